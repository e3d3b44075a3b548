import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

export type Scheme = 'http' | 'https';

/**
 * Returns the scheme of a request's connection. Does not import `node:tls`, so that TLS is loaded only if HTTPS is
 * served.
 */
export function schemeOf({ socket }: Pick<IncomingMessage, 'socket'>): Scheme {
  return (socket as Socket & { readonly encrypted?: boolean }).encrypted === true ? 'https' : 'http';
}
