import { problem } from './problem.js';

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

/**
 * The one `Host` among Node's raw headers (name, value, name, value …), which keep repeated ones; empty when there
 * is none. RFC 9112, 3.2: a server MUST respond with a 400 to a request that contains more than one. Throws
 * `bad_request`.
 */
export function hostOf(rawHeaders: readonly string[]): string {
  let found: string | undefined;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length !== 4 || name.toLowerCase() !== 'host') continue;
    if (found !== undefined) throw problem('bad_request', 'The Host header was sent more than once.');
    found = rawHeaders[at + 1];
  }
  return found ?? '';
}

/** The host of a `Host` header: without port and trailing dot, in lower case. */
export function hostName(header: string): string {
  const name = header.startsWith('[') ? header.slice(0, header.indexOf(']') + 1) : (header.split(':')[0] ?? '');
  return (name.endsWith('.') ? name.slice(0, -1) : name).toLowerCase();
}

function isLoopback(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost') || name === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(name);
}
