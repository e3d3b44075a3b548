import { isIPv6 } from 'node:net';
import { isLoopback } from '../config/loopback.js';
import { problem } from './problem.js';

/**
 * Host names that the `Host` header of a request may contain: loopback addresses, `localhost`, `*.localhost`, and the
 * allowed names.
 *
 * This protects against DNS rebinding. A browser that shows an attacker's page sends the attacker's host name, which is
 * refused.
 */
export class ServedHosts {
  readonly #allowed: ReadonlySet<string>;

  /**
   * `allowed` contains additional host names and addresses. Addresses have the form that `server.listen` accepts: an
   * IPv6 address has no brackets and may have a zone.
   */
  constructor(allowed: readonly string[]) {
    // Tests for a colon first, because the first call of `isIPv6` takes as long as loading the rest of this module.
    const names = allowed.map((host) =>
      normalizeHost(host.includes(':') && isIPv6(host) ? `[${host.replace(/%.*/, '')}]` : host),
    );
    // Skips malformed names, because no request can contain them.
    this.#allowed = new Set(names.filter((name) => name !== undefined));
  }

  /** Returns true if requests to the host `name` are served. `name` has the form that `parseHost` returns. */
  includes(name: string): boolean {
    return isLoopback(name) || LOCALHOST_SUBDOMAIN.test(name) || this.#allowed.has(name);
  }
}

/** Matches names in the domain `localhost`, which always resolve to loopback addresses (RFC 6761, section 6.3). */
const LOCALHOST_SUBDOMAIN = /^(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.)+localhost$/;

/**
 * Returns the value of the `Host` header; undefined if absent. Throws `bad_request` if the header is repeated (RFC
 * 9112, section 3.2).
 *
 * `rawHeaders` alternates names and values. Node's parsed headers cannot be used, because they omit a repeated `Host`.
 */
export function hostOf(rawHeaders: readonly string[]): string | undefined {
  let found: string | undefined;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length !== 4 || name.toLowerCase() !== 'host') continue;
    if (found !== undefined)
      throw problem('bad_request', 'The request has more than one Host header, but must have exactly one.');
    found = rawHeaders[at + 1];
  }
  return found;
}

const AUTHORITY = /^(\[[^[\]]*\]|[^:[\]]+)(?::(\d*))?$/;
const REG_NAME = /^(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+$/;
const IP_FUTURE = /^\[v[0-9a-f]+\.[a-z0-9._~!$&'()*+,;=:-]+\]$/i;
const MAX_PORT = 65_535;

/**
 * Returns the host in a `Host` header or in the authority of a request target. The result is in lower case, without
 * port and trailing dot, and with an IPv6 address in its shortest form. RFC 9110, section 7.2, and RFC 3986, section
 * 3.2:
 *
 *     Host       = uri-host [ ":" port ]
 *     host       = IP-literal / IPv4address / reg-name
 *     IP-literal = "[" ( IPv6address / IPvFuture ) "]"
 *     reg-name   = *( unreserved / pct-encoded / sub-delims )
 *     port       = *DIGIT
 *
 * Throws `bad_request` if the text does not match this grammar, or if the reg-name is empty (RFC 9110, section 4.2.1).
 */
export function parseHost(authority: string): string {
  const host = normalizeHost(authority);
  if (host === undefined)
    throw problem(
      'bad_request',
      'The Host header or the request target has a malformed host. A host is a name or an address, with an optional port.',
    );
  return host;
}

function normalizeHost(authority: string): string | undefined {
  const [, host, port] = AUTHORITY.exec(authority) ?? [];
  if (host === undefined || Number(port ?? 0) > MAX_PORT) return undefined;
  if (host.startsWith('[')) {
    // Tests for `%`, because `isIPv6` accepts a zone id but RFC 3986 does not.
    if (isIPv6(host.slice(1, -1)) && !host.includes('%')) return new URL(`http://${host}`).hostname;
    return IP_FUTURE.test(host) ? host.toLowerCase() : undefined;
  }
  if (!REG_NAME.test(host)) return undefined;
  return (host.endsWith('.') ? host.slice(0, -1) : host).toLowerCase();
}
