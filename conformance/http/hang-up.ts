import { connect } from 'node:net';
import type { WireRequest } from './client.js';

/**
 * Sends a request with only the first `sent` bytes of its body, then closes the connection without waiting for a
 * response. Closes only after the data was written, so that the server receives the partial request.
 */
export async function hangUp(request: WireRequest, sent: number): Promise<void> {
  const { hostname, port } = new URL(request.origin);
  const { body = Buffer.alloc(0), method, path } = request;
  const headers = {
    host: new URL(request.origin).host,
    ...(body.length === 0 ? {} : { 'content-length': String(body.length) }),
    ...request.headers,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const head = Buffer.from([`${method} ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n'));
  await new Promise<void>((resolve, reject) => {
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) });
    socket.once('error', reject);
    socket.once('close', () => resolve());
    socket.write(Buffer.concat([head, body.subarray(0, sent)]), (error) => {
      if (!error) socket.destroy();
    });
  });
}
