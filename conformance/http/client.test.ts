import { createServer, type Socket } from 'node:net';
import t from 'tap';
import { always, startTestServer } from '../test/test-server.js';
import { Client, type ClientOptions } from './client.js';
import { UNLIMITED } from './limiter.js';
import { listenOnLoopback } from './listen.js';
import { NoResponse, type RunEnded } from './no-response.js';
import { Stopwatch } from './stopwatch.js';
import { Throttled } from './throttling.js';

function clientWith(sleep: ClientOptions['sleep'], more: Partial<ClientOptions> = {}): Client {
  return new Client({
    limiter: UNLIMITED,
    timeout: 5000,
    connections: 1,
    onExchange: () => undefined,
    sleep,
    signal: new AbortController().signal,
    now: () => 0,
    ...more,
  });
}

t.test('request targets are sent without normalization', async (t) => {
  const seen: string[] = [];
  const server = createServer((socket) => {
    socket.on('data', (bytes) => {
      seen.push(...bytes.toString('latin1').split('\r\n', 1));
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    });
  });
  const origin = `http://${await listenOnLoopback(server)}`;
  const client = clientWith(() => Promise.resolve());
  const paths = ['/a%2Fb/c', '/a%252Fb', '//x', '/a/../b', '/%zz', '/a%2', '/./a/', '/?a=%2f'];
  for (const path of paths) await client.send({ rule: 'x', method: 'GET', origin, path, headers: {} });
  await client.close();
  server.close();
  t.same(
    seen,
    paths.map((path) => `GET ${path} HTTP/1.1`),
  );
});

/** Starts a server that responds to the first `times` requests with 429. It also counts all requests. */
async function startThrottling(times: number, headers: Record<string, string>, body = '{}') {
  let count = 0;
  const server = await startTestServer((request, response) => {
    count += 1;
    const isThrottled = count <= times;
    always(
      isThrottled ? 429 : 200,
      'application/json',
      isThrottled ? body : '',
      isThrottled ? headers : {},
    )(request, response);
  });
  const request = { rule: 'x', method: 'GET', origin: server.baseUrl, path: '/', headers: {} };
  return { server, request, asked: () => count };
}

t.test('a throttled request is repeated after the requested delay', async (t) => {
  for (const [headers, wait] of [
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after': '7', ratelimit: '"default";r=0;t=30' }, 7000],
    [{ ratelimit: '"default";r=0;t=3' }, 3000],
    [{ ratelimit: '"a";r=5;t=9, "b";r=0;t=2' }, 2000],
  ] as const) {
    const { server, request, asked } = await startThrottling(3, headers);
    let now = 0;
    const waits: number[] = [];
    const client = clientWith(
      async (milliseconds) => {
        waits.push(milliseconds);
        now += milliseconds;
      },
      { now: () => now },
    );
    const stopwatch = new Stopwatch();
    const { status } = await client.send(request, stopwatch);
    t.same([status, asked(), waits], [200, 4, [wait, wait, wait]], JSON.stringify(headers));
    await client.close();
    await server.close();
  }
});

t.test('a 429 without Retry-After is a final response unless its code says that it throttles', async (t) => {
  const own = await startThrottling(1, {}, '{"error":"too many"}');
  const client = clientWith(() => Promise.resolve());
  t.teardown(() => client.close());
  t.equal((await client.send(own.request)).status, 429, "file metadata's own");
  const wanted = await startThrottling(1, { 'retry-after': '7' });
  t.equal((await client.send({ ...wanted.request, wantsThrottling: true })).status, 429, 'one that was provoked');
  const forced = await startThrottling(1, { 'retry-after': '7', 'x-emulator-fault-fired': 'flt-1' });
  t.equal((await client.send(forced.request)).status, 429, 'one that a fault made');
  const coded = await startThrottling(1, {}, '{"code":"rate_limited"}');
  t.equal((await client.send(coded.request)).status, 200, 'rate_limited');
  for (const { server } of [own, wanted, forced, coded]) await server.close();
});

t.test('a throttled request pauses all other requests', async (t) => {
  const { server, request } = await startThrottling(1, { 'retry-after': '5' });
  t.teardown(() => server.close());
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let sleeping = 0;
  let sent = 0;
  const client = clientWith(
    () => {
      sleeping += 1;
      return held;
    },
    { onRequest: () => (sent += 1) },
  );
  t.teardown(() => client.close());
  const first = client.send(request);
  while (sleeping === 0) await new Promise((resolve) => setImmediate(resolve));
  const others = [client.send(request), client.send(request)];
  await new Promise((resolve) => setImmediate(resolve));
  t.same([sent, sleeping], [1, 3], 'nobody asks meanwhile');
  t.equal(client.throttling.left, 5);
  release();
  t.same(
    (await Promise.all([first, ...others])).map(({ status }) => status),
    [200, 200, 200],
  );
});

t.test('a request gives up after one wait that is too long or repeated waits without success', async (t) => {
  for (const [wait, times] of [
    ['7', 9],
    ['60', 2],
    ['61', 1],
    ['0', 602],
  ] as const) {
    const { server, request, asked } = await startThrottling(10_000, { 'retry-after': wait });
    let now = 0;
    const sleep = async (milliseconds: number) => {
      now += milliseconds;
    };
    const client = clientWith(sleep, { now: () => now });
    await t.rejects(client.send(request), Throttled);
    await client.close();
    await server.close();
    t.ok(asked() <= times && asked() >= times - 2, `Retry-After ${wait}: asked ${asked()} times`);
  }
});

t.test('a target that throttles every request ends the run', async (t) => {
  const { server, request, asked } = await startThrottling(10_000, { 'retry-after': '3600' });
  t.teardown(() => server.close());
  const ended: RunEnded[] = [];
  const client = clientWith(() => Promise.resolve(), { onEnd: (reason) => ended.push(reason) });
  t.teardown(() => client.close());
  for (let rule = 0; rule < 8; rule++) await t.rejects(client.send(request), Throttled);
  t.match(ended, [{ by: 'target', message: /every response of the target is 429/ }]);
  t.equal(asked(), 8);
});

/**
 * Bytes that the server sends before it closes the connection, each with the kind of incomplete response that the
 * client must report. `undefined`: the server sends nothing and keeps the connection open.
 */
const BROKEN: readonly (readonly [kind: string, written: string | undefined])[] = [
  ['dropped', ''],
  ['dropped', 'HTTP/1.1 2'],
  ['truncated', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'],
  ['truncated', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nabc'],
  ['garbled', 'SSH-2.0-OpenSSH_9.2\r\n'],
  ['garbled', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nno size\r\n'],
  ['garbled', `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(80_000)}\r\n\r\n`],
  ['late', undefined],
];

t.test('a truncated response is described and keeps the part that arrived', async (t) => {
  for (const [kind, written] of BROKEN) {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('data', () => written !== undefined && socket.end(written));
    });
    const origin = `http://${await listenOnLoopback(server)}`;
    const client = clientWith(() => Promise.resolve(), { timeout: 300 });
    const error = await client.send({ rule: 'x', method: 'GET', origin, path: '/', headers: {} }).catch((e) => e);
    t.type(error, NoResponse, JSON.stringify(written));
    t.equal(error.loss?.kind, kind, JSON.stringify(written?.slice(0, 40)));
    t.equal(error.exchange?.lost, error.loss?.seen);
    await client.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  }
});

/**
 * Starts a server that closes idle connections. It answers the first request of each connection, and calls `how` to
 * close the connection when a second request arrives.
 */
async function startForgetful(how: (socket: Socket) => unknown) {
  const asked: string[] = [];
  const server = createServer((socket) => {
    let count = 0;
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      asked.push(bytes.toString('latin1').split('\r\n', 1)[0] ?? '');
      count += 1;
      if (count > 1) how(socket);
      else socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    });
  });
  const origin = `http://${await listenOnLoopback(server)}`;
  return { origin, asked, close: () => server.close() };
}

for (const how of ['end', 'resetAndDestroy'] as const) {
  t.test(`a request on a kept connection that the server closes meanwhile is repeated: ${how}`, async (t) => {
    const { origin, asked, close } = await startForgetful((socket) => socket[how]());
    t.teardown(close);
    const client = clientWith(() => Promise.resolve());
    t.teardown(() => client.close());
    const send = (method: string) => client.send({ rule: 'x', method, origin, path: '/', headers: {} });
    t.match(await send('GET'), { status: 200 });
    t.match(await send('GET'), { status: 200 }, 'on another connection');
    t.same(asked, ['GET / HTTP/1.1', 'GET / HTTP/1.1', 'GET / HTTP/1.1']);
    await t.rejects(send('POST'), { name: 'NoResponse', message: /closed/ }, 'what may have an effect is sent once');
    t.equal(asked.length, 4);
  });
}

t.test('a server that closes every connection gets a limited number of requests', async (t) => {
  let asked = 0;
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    // Send only an interim response (1xx). The connection then has delivered bytes, but no final response.
    socket.on('data', () => {
      asked += 1;
      socket.end('HTTP/1.1 103 Early Hints\r\n\r\n');
    });
  });
  const origin = `http://${await listenOnLoopback(server)}`;
  const client = clientWith(() => Promise.resolve(), { connections: 2 });
  await t.rejects(client.send({ rule: 'x', method: 'GET', origin, path: '/', headers: {} }), { name: 'NoResponse' });
  t.equal(asked, 3);
  await client.close();
  server.close();
});

t.test('a target that accepts no connections ends the run', async (t) => {
  const server = await startTestServer(always(200, 'text/plain', ''));
  await server.close();
  const ended: RunEnded[] = [];
  const client = clientWith(() => Promise.resolve(), { onEnd: (reason) => ended.push(reason) });
  t.teardown(() => client.close());
  const request = { rule: 'x', method: 'GET', origin: server.baseUrl, path: '/', headers: {} };
  await t.rejects(client.send(request), {
    name: 'RunEnded',
    message: /no longer accepts connections \(no connection \(.*ECONNREFUSED/,
  });
  t.equal(ended.length, 1);
});

t.test('if only a host other than the API is unreachable, the request fails and the run continues', async (t) => {
  const gone = await startTestServer(always(200, 'text/plain', ''));
  await gone.close();
  const api = await startTestServer(always(200, 'text/plain', ''));
  t.teardown(() => api.close());
  const client = clientWith(() => Promise.resolve(), { baseUrl: api.baseUrl });
  t.teardown(() => client.close());
  const request = { rule: 'x', method: 'GET', origin: gone.baseUrl, path: '/', headers: {} };
  await t.rejects(client.send(request), { name: 'NoResponse', loss: { kind: 'unreachable' } });
});
