import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { hangUp } from '../http/hang-up.js';

/** Hop-by-hop headers. A proxy must not forward them, because they apply to a single connection. */
export const HOP_BY_HOP: readonly string[] = ['connection', 'keep-alive', 'transfer-encoding'];

/**
 * Forwards a request to `baseUrl` and the response to the client. Reads the complete request body first, because a
 * server may respond before it has read the body. If the client disconnects early, forwards the received part and then
 * disconnects from the server.
 */
export function passThrough(baseUrl: string, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { hostname, port } = new URL(baseUrl);
  const { method = '', url: path = '', headers } = incoming;
  const pieces: Buffer[] = [];
  incoming.on('data', (piece: Buffer) => pieces.push(piece));
  incoming.on('close', () => {
    if (incoming.complete) return;
    const body = Buffer.concat(pieces);
    const sent = { rule: '', method, origin: baseUrl, path, headers: headers as Record<string, string>, body };
    hangUp(sent, body.length).catch(() => undefined);
  });
  incoming.on('end', () => {
    const onward = request({ hostname, port, method, path, headers }, (response) => {
      for (const name of HOP_BY_HOP) delete response.headers[name];
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    onward.end(Buffer.concat(pieces));
  });
}
