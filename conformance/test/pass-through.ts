import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { hangUp } from '../http/hang-up.js';

/** What belongs to one connection and not to what goes over it. */
export const HOP_BY_HOP: readonly string[] = ['connection', 'keep-alive', 'transfer-encoding'];

/**
 * Sends a request on to `baseUrl` once it is whole, since an answer may come before the rest of it is taken; and what is
 * answered back. A client that hangs up hangs up there too, with as much of its body sent.
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
    const onward = request({ hostname, port, method, path, headers }, (answer) => {
      for (const name of HOP_BY_HOP) delete answer.headers[name];
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    onward.end(Buffer.concat(pieces));
  });
}
