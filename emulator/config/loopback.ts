import { isIPv4 } from 'node:net';

/**
 * Returns true if a host is certainly the local machine: `localhost`, `::1` with or without brackets, or 127.0.0.0/8
 * (RFC 6890). Subdomains of `localhost` are excluded, because a resolver may look them up in the network.
 */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || (host.startsWith('127.') && isIPv4(host));
}
