import { type IncomingMessage, request, type ServerResponse } from 'node:http';

/** What belongs to one connection and not to what goes over it. */
export const HOP_BY_HOP: readonly string[] = ['connection', 'keep-alive', 'transfer-encoding'];

/**
 * Sends a request on to `baseUrl` as it comes, on a connection of its own, and what is answered back. A client that hangs
 * up hangs up there too.
 */
export function passThrough(baseUrl: string, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { hostname, port } = new URL(baseUrl);
  const { method = '', url: path = '', headers } = incoming;
  const onward = request({ hostname, port, method, path, headers, agent: false }, (answer) => {
    for (const name of HOP_BY_HOP) delete answer.headers[name];
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  onward.on('error', () => outgoing.destroy());
  outgoing.on('close', () => onward.destroy());
  incoming.pipe(onward);
}
