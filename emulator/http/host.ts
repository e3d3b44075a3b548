/**
 * Which hosts a request may name: loopback addresses, `localhost`, `*.localhost`, and what is allowed by name.
 * A page in a browser that was led here by DNS rebinding sends its own name, and is refused by it.
 */
export class ServedHosts {
  readonly #allowed: ReadonlySet<string>;

  constructor(allowed: readonly string[]) {
    this.#allowed = new Set(allowed.map(hostName));
  }

  /** `name` as `hostName` gives it. */
  includes(name: string): boolean {
    return isLoopback(name) || this.#allowed.has(name);
  }
}

/** The host of a `Host` header: without port and trailing dot, in lower case. */
export function hostName(header: string): string {
  const name = header.startsWith('[') ? header.slice(0, header.indexOf(']') + 1) : (header.split(':')[0] ?? '');
  return (name.endsWith('.') ? name.slice(0, -1) : name).toLowerCase();
}

function isLoopback(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost') || name === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(name);
}
