import { once } from 'node:events';
import type { Socket } from 'node:net';
import t from 'tap';
import { Schedule } from '../schedule/schedule.js';
import { type Breakage, breakReply } from './broken-response.js';
import { bytes, empty, json, largeJson, type Reply, stream } from './reply.js';
import type { StallLimits } from './response-cut.js';
import { exchange, partsOf, type RawServer, rawServer } from './test/raw-client.js';
import { WriteCoalescing } from './write-coalescing.js';
import { writeReply } from './write-reply.js';

const WRITES = new WriteCoalescing();
const PACE = new Schedule();
const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const BODY = Buffer.from('0123456789'.repeat(1000));

const endless = (): StallLimits => ({ idleMs: 60_000, signal: new AbortController().signal });

/**
 * Starts a server that sends a damaged response to each request. `replies` returns the response and the damage, such as
 * a cut after some bytes.
 */
function serve(
  replies: (url: string) => { reply: Reply; breakage?: Breakage },
  stallLimits = endless(),
): Promise<RawServer> {
  return rawServer((request, response) => {
    const { reply, breakage } = replies(request.url!);
    const broken = breakage === undefined ? reply : breakReply(reply, breakage, request.method, PACE);
    return writeReply(request, response, broken, {
      writes: WRITES,
      pace: PACE,
      common: { 'x-request-id': '1' },
      stallLimits,
    });
  });
}

const KINDS: Readonly<Record<string, () => Reply>> = {
  JSON: () => json(200, { text: BODY.toString() }),
  bytes: () => bytes(200, BODY, { 'content-type': 'text/plain' }),
  'JSON in pieces': () => largeJson(200, { items: Array.from({ length: 5000 }, (_, index) => index) }),
  'a stream': () =>
    stream(
      200,
      (async function* () {
        for (let at = 0; at < BODY.length; at += 777) yield BODY.subarray(at, at + 777);
      })(),
    ),
};

for (const [kind, reply] of Object.entries(KINDS)) {
  t.test(`${kind}: the response is cut, or has a flipped byte`, async (t) => {
    const breakages: Record<string, Breakage | undefined> = {
      '/whole': undefined,
      '/fin': { cut: { at: { fraction: 0.5 }, how: 'fin' } },
      '/rst': { cut: { at: { bytes: 123 }, how: 'rst' } },
      '/stall': { cut: { at: { bytes: 123 }, how: 'stall' } },
      '/end': { cut: { at: { fraction: 0.25 }, how: 'end' } },
      '/nothing': { cut: { at: { bytes: 0 }, how: 'fin' } },
      '/past': { cut: { at: { bytes: 1e9 }, how: 'fin' } },
      '/flip': { flip: {} },
    };
    await using server = await serve((url) => {
      const breakage = breakages[url];
      return breakage === undefined ? { reply: reply() } : { reply: reply(), breakage };
    });
    const get = (target: string, enough?: (bytes: Buffer) => boolean) =>
      exchange(server.port, `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`, enough);
    const isWhole = (bytes: Buffer) => bytes.includes('\r\n\r\n') && partsOf(bytes).isWhole;

    const whole = partsOf((await get('/whole', isWhole)).bytes);
    const undated = (head: string) => head.replace(/^Date: .*/m, '');
    const expectPart = (bytes: Buffer, length: number) => {
      const part = partsOf(bytes);
      t.same(part.body, whole.body.subarray(0, length));
      t.equal(undated(part.head), undated(whole.head), 'the header is that of the whole response');
      t.notOk(part.isWhole);
    };

    const fin = await get('/fin');
    t.equal(fin.end, 'closed');
    expectPart(fin.bytes, Math.floor(whole.body.length / 2));

    const rst = await get('/rst');
    t.not(rst.end, 'open');
    expectPart(rst.bytes, 123);

    const stalled = await get('/stall', (bytes) => bytes.includes('\r\n\r\n') && partsOf(bytes).body.length === 123);
    t.equal(stalled.end, 'open');
    expectPart(stalled.bytes, 123);

    expectPart((await get('/nothing')).bytes, 0);

    const end = await get('/end', isWhole);
    t.equal(end.end, 'open', 'the response is valid HTTP, so the connection stays open');
    t.same(partsOf(end.bytes).body, whole.body.subarray(0, Math.floor(whole.body.length / 4)));

    const past = await get('/past');
    t.equal(past.end, 'closed');
    t.same(partsOf(past.bytes).body, whole.body);

    const flipped = await get('/flip', isWhole);
    const expected = Buffer.from(whole.body);
    expected[whole.body.length >>> 1]! ^= 0xff;
    t.same(partsOf(flipped.bytes).body, expected);
    t.equal(undated(partsOf(flipped.bytes).head), undated(whole.head));
  });
}

const BODILESS: Readonly<Record<string, readonly [method: string, reply: () => Reply]>> = {
  'HEAD of JSON': ['HEAD', () => json(200, {})],
  'HEAD of pieces': ['HEAD', () => largeJson(200, { items: [...Array(5000).keys()] })],
  'HEAD of a stream': ['HEAD', KINDS['a stream']!],
  '204': ['GET', () => empty(204)],
  '304': ['GET', () => empty(304, { etag: '"a"' })],
  'an empty body': ['GET', () => bytes(200, Buffer.alloc(0))],
};

for (const [what, [method, reply]] of Object.entries(BODILESS)) {
  t.test(`${what}: a cut ends the connection without a response`, async (t) => {
    await using server = await serve((url) => ({
      reply: reply(),
      breakage: { cut: { at: { fraction: 0.5 }, how: url.slice(1) as 'fin' | 'rst' | 'end' } },
    }));
    const request = (how: string, enough?: (bytes: Buffer) => boolean) =>
      exchange(server.port, `${method} /${how} HTTP/1.1\r\nHost: a\r\n\r\n`, enough);
    t.same(await request('fin'), { bytes: Buffer.alloc(0), end: 'closed' });
    t.same(await request('rst'), { bytes: Buffer.alloc(0), end: 'reset' });
    const { bytes: whole } = await request('end', (bytes) => bytes.includes('\r\n\r\n'));
    t.match(whole.toString(), /^HTTP\/1\.1 (200|204|304) .*\r\n\r\n$/s, 'there is no body to shorten');
  });
}

t.test('a response header is cut before its first byte, or inside', async (t) => {
  const whole = json(200, { text: 'body' }, { 'x-header': 'value' });
  await using server = await serve((url) => {
    const [how, bytes] = url.slice(1).split('/') as ['fin' | 'rst', string?];
    if (how === undefined || (how as string) === '') return { reply: whole };
    return { reply: { ...whole, cut: { how, ...(bytes !== undefined && { bytes: Number(bytes) }) } } };
  });
  const { bytes } = await exchange(server.port, GET, (bytes) => bytes.includes('}'));
  const head = bytes.subarray(0, 40);
  for (const [how, end] of [
    ['fin', 'closed'],
    ['rst', 'reset'],
  ] as const) {
    t.same(await exchange(server.port, `GET /${how} HTTP/1.1\r\nHost: a\r\n\r\n`), { bytes: Buffer.alloc(0), end });
    t.same((await exchange(server.port, `GET /${how}/40 HTTP/1.1\r\nHost: a\r\n\r\n`)).bytes, head);
  }
});

t.test('of pipelined requests, those before a cut get whole responses, and those after it none', async (t) => {
  const seen: string[] = [];
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await using server = await rawServer(async (request, response) => {
    seen.push(request.url!);
    if (request.url === '/first') await held;
    if (request.url === '/cut') setImmediate(release);
    const reply = json(200, { target: request.url });
    const broken =
      request.url === '/cut' ? breakReply(reply, { cut: { at: { bytes: 5 }, how: 'rst' } }, 'GET', PACE) : reply;
    await writeReply(request, response, broken, { writes: WRITES, pace: PACE, stallLimits: endless() });
  });
  const { bytes, end } = await exchange(
    server.port,
    ['/first', '/cut', '/behind'].map((target) => `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''),
  );
  t.not(end, 'open');
  const [, first, cut, ...others] = bytes.toString().split(/HTTP\/1\.1 200 OK\r\n/);
  t.match(first, /\r\n\r\n\{"target":"\/first"\}$/);
  t.match(cut, /\r\n\r\n\{"tar$/);
  t.same(others, []);
});

t.test(
  'a stall ends when the client disconnects, when its signal is aborted, and after the maximum time',
  async (t) => {
    const stop = new AbortController();
    const stalled = { cut: { at: { bytes: 5 }, how: 'stall' } } as const;
    const untilClosed = async (sockets: ReadonlySet<Socket>) => {
      for (const socket of sockets) if (!socket.destroyed) await once(socket, 'close');
    };
    {
      await using server = await serve(() => ({ reply: json(200, 'abcdefgh'), breakage: stalled }));
      await exchange(server.port, GET, (bytes) => bytes.includes('"abcd'));
      await t.resolves(untilClosed(server.open));
    }
    {
      await using server = await serve(() => ({ reply: json(200, 'abcdefgh'), breakage: stalled }), {
        idleMs: 60_000,
        signal: stop.signal,
      });
      const { end } = await exchange(server.port, GET, (bytes) => {
        if (bytes.includes('"abcd')) stop.abort();
        return false;
      });
      t.equal(end, 'closed');
      t.equal((await exchange(server.port, GET)).end, 'closed', 'a stall that begins after the abort ends at once');
    }
    await using server = await serve(() => ({ reply: json(200, 'abcdefgh'), breakage: stalled }), {
      idleMs: 20,
      signal: new AbortController().signal,
    });
    t.equal((await exchange(server.port, GET)).end, 'closed');
  },
);

t.test('a stream with a Content-Length loses it when it is cut as valid HTTP', async (t) => {
  const whole = () => stream(200, inOnePiece(), { 'content-length': String(BODY.length) });
  await using server = await serve((url) =>
    url === '/whole'
      ? { reply: whole(), breakage: { flip: { offset: 0 } } }
      : { reply: whole(), breakage: { cut: { at: { fraction: 0.1 }, how: 'end' } } },
  );
  const isWhole = (bytes: Buffer) => bytes.includes('\r\n\r\n') && partsOf(bytes).isWhole;
  const short = partsOf((await exchange(server.port, GET, isWhole)).bytes);
  t.same(short.body, BODY.subarray(0, 1000));
  t.match(short.head, /^transfer-encoding: chunked/im);
  const flipped = partsOf((await exchange(server.port, 'GET /whole HTTP/1.1\r\nHost: a\r\n\r\n', isWhole)).bytes);
  t.match(flipped.head, /^content-length: 10000/im);
});

async function* inOnePiece(): AsyncGenerator<Uint8Array> {
  yield BODY;
}

t.test('a throttled response ends when its client disconnects', async (t) => {
  let slices = 0;
  let isClosed = false;
  const endless = (async function* () {
    try {
      for (;;) {
        slices++;
        yield Buffer.alloc(1000);
      }
    } finally {
      isClosed = true;
    }
  })();
  let ended: Promise<unknown> | undefined;
  await using server = await rawServer((request, response) => {
    const reply = breakReply(stream(200, endless), { bytesPerSecond: 20_000 }, 'GET', PACE);
    ended = Promise.resolve(writeReply(request, response, reply, { writes: WRITES, pace: PACE }));
  });
  await exchange(server.port, GET, (bytes) => bytes.length > 3000);
  await ended;
  t.ok(isClosed);
  t.ok(slices < 100, 'the stream was not read further');
});

t.test('the response to a request whose body was not read can be cut', async (t) => {
  for (const how of ['fin', 'rst'] as const) {
    await using server = await serve(() => ({
      reply: json(400, 'refused'),
      breakage: { cut: { at: { bytes: 4 }, how } },
    }));
    const { bytes, end } = await exchange(
      server.port,
      `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\n${'x'.repeat(200_000)}`,
    );
    t.match(bytes.toString(), /\r\n\r\n"ref$/);
    t.not(end, 'open');
  }
});
