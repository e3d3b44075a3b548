import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import t from 'tap';
import { Client, secondsOf } from './client.js';
import { createLimiter, UNLIMITED } from './limiter.js';

t.test('request targets go out exactly as they are written', async (t) => {
  const seen: string[] = [];
  const server = createServer((socket) => {
    socket.on('data', (bytes) => {
      seen.push(...bytes.toString('latin1').split('\r\n', 1));
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = new Client({
    limiter: UNLIMITED,
    timeout: 5000,
    connections: 1,
    onExchange: () => undefined,
    sleep: () => Promise.resolve(),
    signal: new AbortController().signal,
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
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

t.test('the limiter spaces requests evenly', async (t) => {
  let now = 0;
  const limiter = createLimiter(
    5,
    () => now,
    async (milliseconds) => {
      now += milliseconds;
    },
  );
  const times: number[] = [];
  for (let index = 0; index < 4; index++) {
    await limiter.take();
    times.push(now);
  }
  t.same(times, [0, 200, 400, 600]);
});
