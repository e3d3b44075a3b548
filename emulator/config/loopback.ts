import { isIPv4 } from 'node:net';

/**
 * Whether a host is this machine by its name or its address: `localhost`, `::1` with or without the brackets of a URL,
 * and 127.0.0.0/8 (RFC 6890). Names below `localhost` are left out, because a resolver may ask the network for them.
 */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || (host.startsWith('127.') && isIPv4(host));
}
