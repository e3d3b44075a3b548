import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

export type Scheme = 'http' | 'https';

/**
 * Returns the scheme of a request's connection. Tests a property of the socket, because importing `node:tls` would load
 * TLS even if HTTPS is not served.
 */
export function schemeOf({ socket }: Pick<IncomingMessage, 'socket'>): Scheme {
  return (socket as Socket & { readonly encrypted?: boolean }).encrypted === true ? 'https' : 'http';
}
