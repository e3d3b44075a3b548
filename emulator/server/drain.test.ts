import { once } from 'node:events';
import http from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { startEmulator } from '../index.js';
import { Connections } from './drain.js';

/**
 * Timeout in milliseconds that is longer than any test. A drain with this timeout must end earlier for another reason.
 * A drain is a shutdown that waits for connections.
 */
const FOREVER = 2 ** 31 - 1;

const HEAD = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n';
const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';

/** Starts a server that tracks its connections. `reached` counts the requests that began. */
async function serve(test: Test, app: http.RequestListener) {
  const connections = new Connections();
  const reached = { count: 0 };
  const server = http.createServer(
    connections.serve((request, response) => {
      reached.count += 1;
      app(request, response);
    }),
  );
  connections.watch(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  test.teardown(() => server.closeAllConnections());
  const { port } = server.address() as AddressInfo;
  const drain = (idleMs = 100, graceMs = FOREVER) => connections.drain(server, { graceMs, idleMs });
  return { server, port, reached, drain };
}

/**
 * Opens a connection and sends `text`. Returns the socket, a promise for its end, and a function for the received text.
 */
async function open(test: Test, port: number, text = '') {
  const socket = connect(port, '127.0.0.1');
  test.teardown(() => socket.destroy());
  socket.on('error', () => {});
  let received = '';
  socket.on('data', (part) => {
    received += part.toString('latin1');
  });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  await once(socket, 'connect');
  if (text !== '') socket.write(text);
  return { socket, closed, received: () => received };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await pause(5);
}

t.test('a connection on which no request runs is cut at once', async (t) => {
  for (const [name, text] of [
    ['nothing', ''],
    ['half a request line', 'GET /'],
    ['half a request header', 'GET / HTTP/1.1\r\nHost: loc'],
    ['an idle keep-alive connection', GET],
    ['half a request header after a response', `${GET}GET / HT`],
  ] as const) {
    await t.test(name, async (t) => {
      const { port, drain, server } = await serve(t, (_request, response) => void response.end('done'));
      const accepted = once(server, 'connection');
      const { socket, received, closed } = await open(t, port, text);
      await accepted;
      if (text.startsWith(GET)) await until(() => received().endsWith('done'));
      // Pass the longest timeout. The drain must not wait for it, because this client has no request in progress.
      await drain(FOREVER);
      await closed;
      t.equal(socket.destroyed, true);
    });
  }
});

t.test('a client that stalls its own request is cut', async (t) => {
  t.test('by stopping half-way through its body', async (t) => {
    const { port, drain, reached } = await serve(t, (request) => void request.resume());
    await open(t, port, `${HEAD}{`);
    await until(() => reached.count === 1);
    await drain();
    t.equal(reached.count, 1);
  });
  t.test('by never sending a body that nobody reads yet', async (t) => {
    const { port, drain, reached } = await serve(t, () => {});
    await open(t, port, HEAD);
    await until(() => reached.count === 1);
    await drain();
    t.equal(reached.count, 1);
  });
  t.test('by waiting for more than 100 Continue', async (t) => {
    const { port, drain, reached } = await serve(t, (request) => void request.resume());
    await open(t, port, HEAD.replace('\r\n\r\n', '\r\nExpect: 100-continue\r\n\r\n'));
    await until(() => reached.count === 1);
    await drain();
    t.equal(reached.count, 1);
  });
  for (const [name, pieces] of [
    ['one piece', 1],
    ['many pieces', 1_000],
  ] as const) {
    t.test(`by not reading a response of ${name}`, async (t) => {
      const body = Buffer.alloc(64 * 2 ** 20);
      const { port, drain, reached } = await serve(t, (_request, response) => {
        for (let at = 0; at < pieces; at++) response.write(body.subarray(0, body.length / pieces));
        response.end();
      });
      const { socket } = await open(t, port, GET);
      socket.pause();
      await until(() => reached.count === 1);
      await drain();
      t.equal(reached.count, 1);
    });
  }
});

t.test('a request that makes progress gets its response, and then its connection is closed', async (t) => {
  t.test('a body that arrives slowly', async (t) => {
    const { port, drain, reached } = await serve(t, (request, response) => {
      let bytes = 0;
      request.on('data', (part) => {
        bytes += part.length;
      });
      request.on('end', () => response.end(`got ${bytes}`));
    });
    const { socket, received, closed } = await open(t, port, HEAD);
    await until(() => reached.count === 1);
    const drained = drain(2_000);
    for (let at = 0; at < 100; at++) {
      await pause(30);
      socket.write('x');
    }
    await drained;
    await closed;
    t.match(received(), /got 100$/);
    t.match(received(), /connection: close/i, 'the response says that the connection is closed');
  });
  t.test('work that takes long while the client waits', async (t) => {
    const { port, drain, reached } = await serve(t, (request, response) => {
      // Read the second half of the body only after a delay, although it has already arrived.
      setTimeout(() => request.resume().on('end', () => response.end('worked')), 500);
    });
    const { received, closed } = await open(t, port, HEAD + 'x'.repeat(100));
    await until(() => reached.count === 1);
    await drain(50);
    await closed;
    t.match(received(), /worked$/);
  });
  t.test('a response that is read slowly', async (t) => {
    const body = Buffer.alloc(32 * 2 ** 20, 'x');
    const { port, drain, reached } = await serve(t, (_request, response) => void response.end(body));
    const { socket, received, closed } = await open(t, port, GET);
    socket.pause();
    await until(() => reached.count === 1);
    const drained = drain(2_000);
    for (let at = 0; at < 30; at++) {
      await pause(50);
      socket.resume();
      await once(socket, 'data');
      socket.pause();
    }
    socket.resume();
    await drained;
    await closed;
    t.ok(received().length > body.length, 'all of it');
  });
  t.test('pipelined requests', async (t) => {
    const responses: http.ServerResponse[] = [];
    const { port, drain } = await serve(t, (_request, response) => void responses.push(response));
    const { received, closed } = await open(t, port, GET + GET);
    await until(() => responses.length === 2);
    const drained = drain();
    await pause(20);
    responses[1]!.end('second');
    responses[0]!.end('first');
    await drained;
    await closed;
    t.match(received(), /first[\s\S]*second$/);
  });
});

t.test('no request begins while the server drains', async (t) => {
  const responses: http.ServerResponse[] = [];
  const { port, drain, reached } = await serve(t, (_request, response) => {
    response.writeHead(200, { 'content-length': 2 });
    responses.push(response);
  });
  const { socket, received, closed } = await open(t, port, GET);
  await until(() => responses.length === 1);
  const drained = drain();
  await pause(20);
  socket.write(GET);
  await pause(50);
  responses[0]!.end('ok');
  await drained;
  await closed;
  t.match(received(), /ok$/);
  t.equal(reached.count, 1);
});

t.test('a request that arrived completely before the drain gets a response', async (t) => {
  const { port, drain, server } = await serve(t, (_request, response) => void response.end('served'));
  const accepted = once(server, 'connection');
  const { received, closed } = await open(t, port, GET);
  await accepted;
  await drain();
  await closed;
  t.match(received(), /served$/);
});

t.test('requests that still run at the end of the grace period are cut', async (t) => {
  const { port, drain, reached } = await serve(t, () => {});
  const { received, closed } = await open(t, port, GET);
  await until(() => reached.count === 1);
  await drain(FOREVER, 50);
  await closed;
  t.equal(received(), '');
});

t.test('an emulator closes without waiting for connections on which no request runs', async (t) => {
  const emulator = await startEmulator({ port: 0, org: ['one', 'two'] });
  t.teardown(() => emulator.close({ graceMs: 0 }));
  for (const { baseUrl } of emulator.orgs) {
    const port = Number(new URL(baseUrl).port);
    for (const text of ['', 'GET / HTTP/1.1\r\nHo', GET]) await open(t, port, text);
  }
  const stalled = await open(t, Number(new URL(emulator.baseUrl).port), HEAD);
  await until(() => stalled.socket.bytesWritten > 0);
  const closing = emulator.close({ graceMs: FOREVER });
  await Promise.all([closing, emulator.close({ graceMs: FOREVER })]);
  await t.rejects(fetch(emulator.baseUrl), 'the port is closed');
  await emulator.close();
});
