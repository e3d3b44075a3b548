import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

export type Scheme = 'http' | 'https';

/** The scheme that a request came by. `node:tls`, whose sockets say so, is not loaded where it is not spoken. */
export function schemeOf({ socket }: Pick<IncomingMessage, 'socket'>): Scheme {
  return (socket as Socket & { readonly encrypted?: boolean }).encrypted === true ? 'https' : 'http';
}
