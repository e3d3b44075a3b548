import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

/** Bytes that a client received on one connection. `end` says how the connection ended: `open` if it has not ended. */
export interface Conversation {
  readonly bytes: Buffer;
  readonly end: 'closed' | 'reset' | 'open';
}

export interface RawServer extends AsyncDisposable {
  readonly port: number;
  /** Connections that are still open on the server's side. */
  readonly open: ReadonlySet<Socket>;
}

export async function rawServer(
  handle: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<RawServer> {
  const server = createServer(handle);
  Object.assign(server, { httpAllowHalfOpen: true });
  const open = new Set<Socket>();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    open,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/**
 * Sends `text` to a server, and collects the response. Stops when the connection ends, or when `enough` returns true
 * for the received bytes.
 */
export function exchange(
  port: number,
  text: string,
  enough: (bytes: Buffer) => boolean = () => false,
): Promise<Conversation> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    let bytes: Buffer = Buffer.alloc(0);
    const finish = (end: Conversation['end']) => {
      socket.destroy();
      resolve({ bytes, end });
    };
    socket.on('data', (data) => {
      bytes = Buffer.concat([bytes, data]);
      if (enough(bytes)) finish('open');
    });
    socket.once('end', () => finish('closed')).once('error', () => finish('reset'));
    socket.write(text);
  });
}

/** Splits a response into header and body. Decodes a chunked body. `isWhole` is true if the body is complete. */
export function partsOf(bytes: Buffer): { head: string; body: Buffer; isWhole: boolean } {
  const at = bytes.indexOf('\r\n\r\n');
  const head = bytes.toString('latin1', 0, at);
  const rest = bytes.subarray(at + 4);
  const length = /^content-length: (\d+)/im.exec(head)?.[1];
  if (length !== undefined) return { head, body: rest, isWhole: rest.length === Number(length) };
  const body: Buffer[] = [];
  for (let from = 0; from < rest.length; ) {
    const end = rest.indexOf('\r\n', from);
    const size = Number.parseInt(rest.toString('latin1', from, end), 16);
    if (size === 0) return { head, body: Buffer.concat(body), isWhole: true };
    body.push(rest.subarray(end + 2, end + 2 + size));
    from = end + 2 + size + 2;
  }
  return { head, body: Buffer.concat(body), isWhole: false };
}
