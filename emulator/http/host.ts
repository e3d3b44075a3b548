import { isIPv6 } from 'node:net';
import { isLoopback } from '../config/loopback.js';
import { problem } from './problem.js';

/**
 * Which hosts a request may name: loopback addresses, `localhost`, `*.localhost`, and what is allowed by name.
 * A page in a browser that was led here by DNS rebinding sends its own name, and is refused by it.
 */
export class ServedHosts {
  readonly #allowed: ReadonlySet<string>;

  /** Host names, and addresses as a listener is given them: without brackets, with a zone. */
  constructor(allowed: readonly string[]) {
    // Only what has a colon can be one; to ask Node costs a start as much as all the rest of this module.
    const names = allowed.map((host) =>
      readHost(host.includes(':') && isIPv6(host) ? `[${host.replace(/%.*/, '')}]` : host),
    );
    // What no request can name allows nothing.
    this.#allowed = new Set(names.filter((name) => name !== undefined));
  }

  /** `name` as `parseHost` gives it. */
  includes(name: string): boolean {
    return isLoopback(name) || BELOW_LOCALHOST.test(name) || this.#allowed.has(name);
  }
}

/** Names below `localhost` (RFC 6761, 6.3): a request that names one has arrived at this machine. */
const BELOW_LOCALHOST = /^(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.)+localhost$/;

/**
 * The one `Host` among Node's raw headers (name, value, name, value …), which keep repeated ones; undefined when
 * there is none. RFC 9112, 3.2: a server MUST respond with a 400 to a request that contains more than one. Throws
 * `bad_request`.
 */
export function hostOf(rawHeaders: readonly string[]): string | undefined {
  let found: string | undefined;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length !== 4 || name.toLowerCase() !== 'host') continue;
    if (found !== undefined) throw problem('bad_request', 'The Host header was sent more than once.');
    found = rawHeaders[at + 1];
  }
  return found;
}

const AUTHORITY = /^(\[[^[\]]*\]|[^:[\]]+)(?::(\d*))?$/;
const REG_NAME = /^(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+$/;
const IP_FUTURE = /^\[v[0-9a-f]+\.[a-z0-9._~!$&'()*+,;=:-]+\]$/i;
const HIGHEST_PORT = 65_535;

/**
 * The host that a `Host` header, or the authority of a target, names: without port and trailing dot, in lower case,
 * an IPv6 address in its shortest form. RFC 9110, 7.2, and RFC 3986, 3.2:
 *
 *     Host       = uri-host [ ":" port ]
 *     host       = IP-literal / IPv4address / reg-name
 *     IP-literal = "[" ( IPv6address / IPvFuture ) "]"
 *     reg-name   = *( unreserved / pct-encoded / sub-delims )
 *     port       = *DIGIT
 *
 * RFC 9110, 4.2.1, takes the empty reg-name out. Throws `bad_request` for what does not follow the grammar.
 */
export function parseHost(authority: string): string {
  const host = readHost(authority);
  if (host === undefined) throw problem('bad_request', 'The host that the request names is malformed.');
  return host;
}

function readHost(authority: string): string | undefined {
  const [, host, port] = AUTHORITY.exec(authority) ?? [];
  if (host === undefined || Number(port ?? 0) > HIGHEST_PORT) return undefined;
  if (host.startsWith('[')) {
    // Node takes zone ids for a part of the address; RFC 3986 does not.
    if (isIPv6(host.slice(1, -1)) && !host.includes('%')) return new URL(`http://${host}`).hostname;
    return IP_FUTURE.test(host) ? host.toLowerCase() : undefined;
  }
  if (!REG_NAME.test(host)) return undefined;
  return (host.endsWith('.') ? host.slice(0, -1) : host).toLowerCase();
}
