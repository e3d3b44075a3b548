import { createServer } from 'node:net';
import t from 'tap';
import { always, startStub } from '../test/stub.js';
import { Client, secondsOf, Throttled } from './client.js';
import { UNLIMITED } from './limiter.js';
import { listenOnLoopback } from './listen.js';

function clientWith(sleep: (milliseconds: number) => Promise<void>): Client {
  return new Client({
    limiter: UNLIMITED,
    timeout: 5000,
    connections: 1,
    onExchange: () => undefined,
    sleep,
    signal: new AbortController().signal,
  });
}

t.test('request targets go out exactly as they are written', async (t) => {
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

t.test('Retry-After is seconds or a date', async (t) => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  t.equal(secondsOf('12', now), 12);
  t.equal(secondsOf('Thu, 01 Jan 2026 00:00:30 GMT', now), 30);
  t.equal(secondsOf('Thu, 01 Jan 2025 00:00:30 GMT', now), 0);
  t.equal(secondsOf('soon', now), undefined);
  t.equal(secondsOf(undefined, now), undefined);
});

t.test('a throttled request waits as long as Retry-After asks, and is sent once more', async (t) => {
  let count = 0;
  const stub = await startStub((request, response) => {
    count += 1;
    always(count === 1 ? 429 : 200, 'text/plain', '', { 'retry-after': '7' })(request, response);
  });
  t.teardown(() => stub.close());
  const waits: number[] = [];
  const client = clientWith(async (milliseconds) => void waits.push(milliseconds));
  const exchange = await client.send({ rule: 'x', method: 'GET', origin: stub.baseUrl, path: '/', headers: {} });
  await client.close();
  t.same([exchange.status, count, waits], [200, 2, [7000]]);
});

t.test('a target that throttles again is asked twice, one that asks for too long a wait once', async (t) => {
  for (const [wait, times] of [
    ['7', 2],
    ['31', 1],
  ] as const) {
    let count = 0;
    const stub = await startStub((request, response) => {
      count += 1;
      always(429, 'text/plain', '', { 'retry-after': wait })(request, response);
    });
    const client = clientWith(() => Promise.resolve());
    await t.rejects(client.send({ rule: 'x', method: 'GET', origin: stub.baseUrl, path: '/', headers: {} }), Throttled);
    await client.close();
    await stub.close();
    t.equal(count, times);
  }
});
