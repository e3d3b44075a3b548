import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { lingeringClose } from './lingering-close.js';

/** Opens a connection and returns the sockets at both ends. Either end can close its sending direction separately. */
async function connection(test: Test): Promise<{ client: Socket; socket: Socket }> {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
  const [socket] = (await accepted) as [Socket];
  test.teardown(() => {
    client.destroy();
    socket.destroy();
    server.close();
  });
  return { client: client.resume(), socket: socket.resume() };
}

/**
 * Calls `lingeringClose` with timers that never fire, so that no timeout can end the connection. Returns a function
 * that counts the active timers.
 */
function closeWithoutTime(socket: Socket): () => number {
  const { setTimeout, clearTimeout } = globalThis;
  const timers = new Set<object>();
  const set = () => {
    const timer = { unref: () => timer };
    timers.add(timer);
    return timer;
  };
  Object.assign(globalThis, { setTimeout: set });
  lingeringClose(socket);
  Object.assign(globalThis, { setTimeout, clearTimeout: (timer: object) => timers.delete(timer) });
  socket.once('close', () => Object.assign(globalThis, { clearTimeout }));
  return () => timers.size;
}

t.test('written bytes arrive, and the connection ends as soon as the client has closed its side', async (t) => {
  for (const clientClosesFirst of [true, false]) {
    const { client, socket } = await connection(t);
    const who = clientClosesFirst ? 'the client closes first' : 'the client closes after it has read the response';
    let response = '';
    client.on('data', (data) => {
      response += data;
    });
    if (clientClosesFirst) {
      const ended = once(socket, 'end');
      client.end();
      await ended;
    }
    socket.write('the answer');
    const closed = once(socket, 'close', { signal: AbortSignal.timeout(5_000) });
    const timers = closeWithoutTime(socket);
    t.equal(timers(), clientClosesFirst ? 0 : 1, 'a timer is set only if the client has not closed its side');
    await once(client, 'end', { signal: AbortSignal.timeout(5_000) });
    t.equal(response, 'the answer', who);
    client.end('more that nobody reads');
    await t.resolves(closed, who);
    t.equal(timers(), 0, 'no timer is left');
  }
});
