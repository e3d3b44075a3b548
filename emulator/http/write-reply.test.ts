import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { Pool } from 'undici';
import { Schedule, SLICE } from '../schedule/schedule.js';
import { readChunks } from './body.js';
import { json, largeJson, stream } from './reply.js';
import { WriteCoalescing } from './write-coalescing.js';
import { writeReply } from './write-reply.js';

const WRITES = new WriteCoalescing();
const PACE = new Schedule();
const BODY = { maxBytes: 64 * 1024 * 1024, idleTimeout: 5_000 };

/** Ways in which a handler stops reading the request body before it writes the response. */
const ABANDONMENTS: Readonly<Record<string, (request: IncomingMessage) => Promise<void>>> = {
  'unread from the start': async () => {},
  'after its first piece': async (request) => {
    for await (const _ of readChunks(request, BODY)) return;
  },
  'by a refusal half-way': async (request) => {
    await readChunks(request, { ...BODY, maxBytes: 1 })
      .next()
      .catch(() => undefined);
  },
};

for (const [how, abandon] of Object.entries(ABANDONMENTS)) {
  t.test(`a body abandoned ${how} does not block the next request on its connection`, async (t) => {
    const ends: Promise<unknown>[] = [];
    const server = createServer((request, response) => {
      ends.push(once(request, 'close', { signal: AbortSignal.timeout(5_000) }));
      void abandon(request).then(() => writeReply(request, response, json(400, {}), { writes: WRITES, pace: PACE }));
    });
    let connections = 0;
    server.on('connection', () => connections++);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    // Use a pool with one connection. If the server did not discard the rest of the body, the second response would
    // wait until the connection is cut.
    const pool = new Pool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
      connections: 1,
      headersTimeout: 5_000,
    });
    for (const bytes of [100_000, 10_000_000, 100_000]) {
      const response = await pool.request({ method: 'POST', path: '/', body: Buffer.alloc(bytes) });
      t.equal(response.statusCode, 400);
      await response.body.dump();
    }
    t.equal(connections, 1);
    await t.resolves(Promise.all(ends), 'no timer is left that could cut the connection later');
    await pool.close();
    server.close();
  });
}

/**
 * Requests that the server refuses while the client still sends the body. `connection` says whether the server keeps
 * the connection open. It does so only if it can read and discard the rest of the body cheaply, for example because it
 * is short.
 */
const EARLY: readonly (readonly [status: number, headers: string, rest: Rest, connection: 'close' | 'keep-alive'])[] = [
  [408, 'content-length: 1000', 'silent', 'close'],
  [413, 'content-length: 1000', 'silent', 'keep-alive'],
  [413, `content-length: ${2 ** 40}`, 'silent', 'close'],
  [413, `content-length: ${2 ** 40}`, 'endless', 'close'],
  [404, `content-length: ${2 ** 40}`, 'endless', 'close'],
  [400, 'transfer-encoding: chunked', 'silent', 'close'],
  [200, 'transfer-encoding: chunked', 'silent', 'keep-alive'],
];
type Rest = 'silent' | 'endless';

t.test('a response to half a body reaches the client, and the connection is closed soon', async (t) => {
  await Promise.all(
    EARLY.map(async ([status, headers, rest, connection]) => {
      const server = createServer((request, response) => {
        request.once(
          'readable',
          () => void writeReply(request, response, json(status, { read: 'all of it' }), { writes: WRITES, pace: PACE }),
        );
      });
      Object.assign(server, { httpAllowHalfOpen: true });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const port = (server.address() as AddressInfo).port;
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => undefined);
      let response = '';
      socket.on('data', (data) => {
        response += data;
      });
      const piece = Buffer.alloc(1 << 16);
      const send = () => rest === 'endless' && !socket.destroyed && socket.write(piece, send);
      socket.write(`POST / HTTP/1.1\r\nhost: x\r\n${headers}\r\n\r\n1\r\n1`, send);
      // Wait until the server ends the connection. The client never closes its side.
      await once(server, 'request');
      await new Promise<void>((resolve) => server.close(() => resolve()));
      socket.destroy();
      const name = `${status}, ${headers}, ${rest}`;
      t.match(response, new RegExp(`^HTTP/1.1 ${status} `), name);
      t.match(response, new RegExp(`^connection: ${connection}\r$`, 'im'), name);
      t.match(response, /\r\n\r\n{"read":"all of it"}$/, name);
    }),
  );
});

t.test('a client that continues to send a body of known length keeps its connection', async (t) => {
  const server = createServer((request, response) => {
    void writeReply(request, response, json(413, {}), { writes: WRITES, pace: PACE });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
  let responses = '';
  socket.on('data', (data) => {
    responses += data;
  });
  const head = 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ';
  socket.write(`${head}13000\r\n\r\n`);
  // Send parts of the body for longer than the timeout for silent clients. The pauses between the parts are shorter
  // than the timeout, so the server must not disconnect.
  for (let sent = 0; sent < 13; sent++) {
    socket.write(Buffer.alloc(1000));
    await pause(200);
  }
  socket.write(`${head}0\r\nconnection: close\r\n\r\n`);
  await once(socket, 'close');
  t.equal(responses.match(/HTTP\/1\.1 413 /g)?.length, 2, 'the next request is answered as well');
  server.close();
});

t.test('a large response is sent in chunks while others are served, and a short one in one piece', async (t) => {
  const lines = (count: number) => Array.from({ length: count }, (_, line) => ({ line, text: 'é"\n' }));
  const server = createServer((request, response) => {
    const value = { lines: lines(Number(request.url!.slice(1))).values(), text: Buffer.from('ü'), none: undefined };
    void writeReply(request, response, largeJson(200, value, { 'x-mine': 'yes' }), { writes: WRITES, pace: PACE });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const pool = new Pool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { connections: 2 });
  const get = async (count: number, method: 'GET' | 'HEAD' = 'GET') => {
    const { headers, body } = await pool.request({ method, path: `/${count}` });
    return { headers, text: await body.text() };
  };
  const short = await get(3);
  t.match(short.headers, { 'content-type': 'application/json', 'x-mine': 'yes' });
  t.equal(short.headers['content-length'], String(Buffer.byteLength(short.text)));
  t.same(JSON.parse(short.text), { lines: lines(3), text: 'ü' });
  const order: string[] = [];
  const [long] = await Promise.all([
    get(200_000).finally(() => order.push('long')),
    get(1).finally(() => order.push('short')),
  ]);
  t.same(order, ['short', 'long']);
  t.match(long.headers, { 'content-type': 'application/json', 'transfer-encoding': 'chunked', 'x-mine': 'yes' });
  t.equal(long.text, JSON.stringify({ lines: lines(200_000), text: 'ü' }));
  t.ok(PACE.spent > long.text.length / 200, `${PACE.spent} units were counted`);
  t.ok(PACE.longestSlice < SLICE + 2000, `${PACE.longestSlice} of them at once`);
  t.match(await get(200_000, 'HEAD'), { text: '', headers: { 'content-type': 'application/json' } });
  await pool.close();
  server.close();
});

t.test('the production of a large response ends when the client disconnects', async (t) => {
  let made = 0;
  let isEnded = false;
  function* endless() {
    try {
      for (;;) yield `${made++} ${'x'.repeat(1000)}`;
    } finally {
      isEnded = true;
    }
  }
  let written: Promise<void> | undefined;
  const server = createServer((request, response) => {
    written = writeReply(request, response, largeJson(200, { lines: endless() }), { writes: WRITES, pace: PACE });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  await once(socket, 'data');
  socket.destroy();
  while (!written) await new Promise(setImmediate);
  await written;
  t.ok(isEnded, `after ${made} lines`);
  server.close();
});

t.test('a stream that fails half-way closes the connection without a last chunk', async (t) => {
  const socket = new Socket();
  async function* broken() {
    yield Buffer.from('half');
    await once(socket, 'data');
    throw new Error('no more');
  }
  let written: Promise<void> | undefined;
  const server = createServer((request, response) => {
    written = writeReply(request, response, stream(200, broken()), { writes: WRITES, pace: PACE });
    written?.catch(() => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  let response = '';
  socket.on('data', (data) => {
    response += data;
  });
  socket.on('error', () => undefined).connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  await once(socket, 'close');
  t.match(response, /^HTTP\/1\.1 200 OK\r\n/);
  t.match(response, /transfer-encoding: chunked/i);
  t.notMatch(response, /\r\n0\r\n/, 'no last chunk');
  await t.rejects(written!, { message: 'no more' });
  server.close();
});

t.test('responses that are ready together are sent together, each to its own client', async (t) => {
  const held: (() => void)[] = [];
  const responses: ServerResponse[] = [];
  const server = createServer((request, response) => {
    responses.push(response);
    held.push(
      () => void writeReply(request, response, json(200, { for: request.url }), { writes: WRITES, pace: PACE }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const paths = ['/1', '/2', '/3', '/4'];
  const abort = new AbortController();
  const bodies = paths.map(async (path) => {
    const response = await fetch(`${origin}${path}`, path === '/2' ? { signal: abort.signal } : {});
    return response.json();
  });
  const settled = Promise.allSettled(bodies);
  while (held.length < paths.length) await new Promise((resolve) => setTimeout(resolve, 5));
  for (const write of held) write();
  t.notOk(
    responses.some(({ writableEnded }) => writableEnded),
    'no response is sent before all requests were handled',
  );
  abort.abort();
  const results = await settled;
  t.same(
    results.filter((_, index) => index !== 1).map((result) => result.status === 'fulfilled' && result.value),
    [{ for: '/1' }, { for: '/3' }, { for: '/4' }],
    'a client that disconnects does not affect the others',
  );
});

t.test('a request without a body keeps its connection, whatever the status of the response', async (t) => {
  const server = createServer((request, response) => {
    // Write the reply immediately, before Node marks the request as complete.
    void writeReply(request, response, json(Number(request.url!.slice(1)), {}), { writes: WRITES, pace: PACE });
  });
  let connections = 0;
  server.on('connection', () => connections++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const pool = new Pool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { connections: 1 });
  for (const status of [409, 404, 500, 200]) {
    const response = await pool.request({ method: 'GET', path: `/${status}` });
    t.equal(response.statusCode, status);
    t.equal(response.headers.connection, 'keep-alive', `${status}`);
    await response.body.dump();
  }
  t.equal(connections, 1);
  await pool.close();
  server.close();
});
