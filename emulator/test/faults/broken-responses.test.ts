import { connect } from 'node:net';
import t from 'tap';
import { exchange, partsOf } from '../../http/test/raw-client.js';
import type { LogLine } from '../../log/log.js';
import { packBody, type Service, startService } from '../service.js';

const FILES = {
  'README.md': 'hello\n'.repeat(2000),
  ...Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => [`src/f${index}.txt`, `needle ${index}\n`.repeat(50)]),
  ),
};

interface Story extends AsyncDisposable {
  readonly service: Service;
  readonly log: LogLine[];
  readonly port: number;
  /** Returns the text of a request with a valid token for the repository. */
  request(line: string, headers?: readonly string[], body?: string): Promise<string>;
}

/**
 * Sends `first`, waits until the server ends its direction of the connection, and sends `second`. Resolves when the
 * connection is closed completely.
 */
function sendBehindEnd(port: number, first: string, second: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.once('close', () => resolve()).on('error', () => {});
    socket.resume().once('end', () => socket.end(second));
    socket.write(first);
  });
}

async function start(): Promise<Story> {
  const log: LogLine[] = [];
  const service = await startService({}, { log: { write: (line) => void log.push(line) } });
  await service.seed('team/app', FILES);
  const token = await service.token({ repo: 'team/app' });
  return {
    service,
    log,
    port: Number(new URL(service.url).port),
    request: async (line, headers = [], body = '') =>
      [
        `${line} HTTP/1.1`,
        'Host: localhost',
        `Authorization: Bearer ${token}`,
        ...(body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
        ...headers,
        '',
        body,
      ].join('\r\n'),
    [Symbol.asyncDispose]: () => service.emulator.close({ graceMs: 0 }),
  };
}

/** Requests whose responses are written by different parts of the emulator's code. */
const REQUESTS: Readonly<Record<string, readonly [line: string, headers?: readonly string[], body?: string]>> = {
  'a file': ['GET /api/v1/repos/file?path=README.md'],
  'the head of a file': ['HEAD /api/v1/repos/file?path=README.md'],
  'an archive': ['POST /api/v1/repos/archive', ['Content-Type: application/json'], '{}'],
  'a search': [
    'POST /api/v1/repos/grep',
    ['Content-Type: application/json'],
    JSON.stringify({ query: { pattern: 'needle' }, pagination: { limit: 200 } }),
  ],
  'a list': ['GET /api/v1/repos/files'],
  'an error': ['GET /api/v1/repos/file?path=missing'],
  'an advertisement': ['GET /team/app.git/info/refs?service=git-receive-pack'],
};

const isAnswered = (line: string) => (bytes: Buffer) => {
  if (!bytes.includes('\r\n\r\n')) return false;
  return line.startsWith('HEAD ') || partsOf(bytes).isWhole;
};

/**
 * Removes the parts of a response that change each time, such as the header `Date`. Responses to equal requests can
 * then be compared.
 */
const steady = (bytes: Buffer) =>
  bytes
    .toString('latin1')
    .replace(/^(Date|x-request-id|x-cache): .*\r\n/gim, '')
    .replace(/session-id=\S+/g, '');

t.test('a fault that does not fire leaves every byte as it is', async (t) => {
  await using story = await start();
  const idle = ['cut+1000@response.body', 'throttle+1000@after;bps=1', 'corrupt+1000@response.body', 'lost+1000'];
  for (const [what, [line, headers = [], body]] of Object.entries(REQUESTS)) {
    const plain = await exchange(story.port, await story.request(line, headers, body), isAnswered(line));
    t.equal(plain.end, 'open', what);
    for (const fault of idle) {
      const request = await story.request(line, [...headers, `X-Emulator-Fault: ${fault}`], body);
      const armed = await exchange(story.port, request, isAnswered(line));
      t.equal(steady(armed.bytes), steady(plain.bytes), `${what}, ${fault}`);
    }
  }
});

t.test('responses of every kind are cut in every way', async (t) => {
  await using story = await start();
  for (const [what, [line, headers = [], body]] of Object.entries(REQUESTS)) {
    const ask = async (fault: string, enough?: (bytes: Buffer) => boolean) => {
      const request = await story.request(line, [...headers, `X-Emulator-Fault: ${fault}`], body);
      return exchange(story.port, request, enough);
    };
    const whole = partsOf(
      (await exchange(story.port, await story.request(line, headers, body), isAnswered(line))).bytes,
    ).body;
    for (const how of ['fin', 'rst'] as const) {
      const { bytes, end } = await ask(`cut@response.body;how=${how}`);
      t.not(end, 'open', `${what}, ${how}`);
      if (line.startsWith('HEAD '))
        t.equal(bytes.length, 0, 'no body to cut: the connection ends in place of the answer');
      else {
        const part = partsOf(bytes);
        t.notOk(part.isWhole);
        t.match(part.head, /^x-emulator-fault-fired: cut/im);
        // Compare only the lengths of the bodies. Tar files contain times, and errors contain the path of the request.
        t.equal(part.body.length, Math.floor(whole.length / 2), `${what}, ${how}`);
      }
    }
    if (line.startsWith('HEAD ')) continue;
    const short = await ask('cut@response.body;bytes=10;how=end', isAnswered(line));
    t.equal(short.end, 'open');
    t.equal(partsOf(short.bytes).body.length, 10);
    t.match((await ask('cut@response.head')).bytes, Buffer.alloc(0));
    t.match((await ask('cut@response.head;bytes=12')).bytes.toString(), /^HTTP\/1\.1 \d{3}$/);
    const flipped = partsOf((await ask('corrupt@response.body;bytes=3', isAnswered(line))).bytes).body;
    t.equal(flipped[3]! ^ 0xff, whole[3]);
    const slow = await ask('throttle@response.body;bps=1000000', isAnswered(line));
    t.equal(partsOf(slow.bytes).body.length, whole.length);
    const pieces = await ask('slice;size=7', isAnswered(line));
    t.match(pieces.bytes.toString('latin1'), /^x-emulator-fault-fired: slice/im);
    t.equal(partsOf(pieces.bytes).body.length, whole.length);
  }
  t.same(
    story.log.filter(({ event }) => event === 'internal_error'),
    [],
  );
});

t.test('a request whose body is cut has no effect', async (t) => {
  await using story = await start();
  const { service } = story;
  const before = await service.call('GET', '/api/v1/repos/branches');
  const body = packBody({ 'new.txt': 'x'.repeat(100_000) });
  for (const fault of [
    'cut@body',
    'cut@body;bytes=0',
    'cut@body;bytes=70000;how=rst',
    'cut@body;fraction=1;how=fin',
    'internal_error@body',
    'internal_error@before',
    'internal_error@auth',
  ]) {
    const headers = ['Content-Type: application/x-ndjson', `X-Emulator-Fault: ${fault}`];
    const request = await story.request('POST /api/v1/repos/commit-pack', headers, body);
    const { bytes, end } = await exchange(story.port, request, isAnswered('POST'));
    if (fault.startsWith('cut')) {
      t.equal(bytes.length, 0, fault);
      t.not(end, 'open', fault);
    } else t.match(bytes.toString(), /^HTTP\/1\.1 500 /);
    t.same((await service.call('GET', '/api/v1/repos/branches')).json, before.json, fault);
  }
  const headers = ['Content-Type: application/x-ndjson', 'X-Emulator-Fault: throttle@body;bps=1000000'];
  const slow = await story.request('POST /api/v1/repos/commit-pack', headers, body);
  t.match((await exchange(story.port, slow, isAnswered('POST'))).bytes.toString(), /^HTTP\/1\.1 201 /);
});

t.test('a throttled request body does not count as an idle client', async (t) => {
  const service = await startService({ limits: { idleTimeout: 300 } });
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  await service.seed('team/app');
  const body = packBody({ 'new.txt': 'x'.repeat(20_000) });
  const headers = { 'x-emulator-fault': 'throttle@body;bps=30000' };
  t.match(await service.call('POST', '/api/v1/repos/commit-pack', { body, headers }), { status: 201 });
});

t.test('a commit whose response is lost exists: a retry with an expected head gets 409', async (t) => {
  await using story = await start();
  const { service } = story;
  for (const fault of ['lost', 'lost;how=rst', 'lost;status=502', 'cut@response.head', 'cut@response.body']) {
    const head = (await service.call('GET', '/api/v1/repos/branches')).json.branches[0].head_sha;
    const body = packBody({ 'note.txt': `${fault}\n` }, { expected_head_sha: head });
    const headers = { 'x-emulator-fault': fault };
    const first = service.call('POST', '/api/v1/repos/commit-pack', { body, headers });
    if (fault.includes('status')) t.match(await first, { status: 502, headers: { 'x-emulator-fault-fired': /^lost/ } });
    else await t.rejects(first, fault);
    t.not((await service.call('GET', '/api/v1/repos/branches')).json.branches[0].head_sha, head, 'it was made');
    t.match(await service.call('POST', '/api/v1/repos/commit-pack', { body }), { status: 409 });
    const file = await service.call('GET', '/api/v1/repos/file?path=note.txt');
    t.equal(file.text, `${fault}\n`);
  }
  const lost = [...service.world.state.journal.entries()].filter(({ origin }) => /^injected:(lost|cut)/.test(origin));
  t.same(
    lost.map(({ status }) => status),
    [201, 201, 502, 201, 201],
    'the journal shows the status that was made',
  );
});

t.test('pipelined requests after a cut response are not served', async (t) => {
  await using story = await start();
  const file = 'GET /api/v1/repos/file?path=README.md';
  const list = await story.request('GET /api/v1/repos/branches');
  const cut = await story.request(file, ['X-Emulator-Fault: cut@response.body;bytes=5']);
  const { bytes, end } = await exchange(story.port, list + list + cut + list + list);
  t.equal(end, 'closed');
  const responses = bytes.toString('latin1').split(/(?=HTTP\/1\.1 200 OK)/);
  t.equal(responses.length, 3);
  t.match(responses[0], /"branches"/);
  t.match(responses[1], /"branches"/);
  t.match(responses[2], /\r\n\r\nhello$/);

  const body = packBody({ 'behind.txt': 'made' });
  const commit = await story.request('POST /api/v1/repos/commit-pack', ['Content-Type: application/x-ndjson'], body);
  const before = await story.service.call('GET', '/api/v1/repos/branches');
  for (const fault of ['cut@response.body;bytes=5', 'cut@response.head', 'lost']) {
    await sendBehindEnd(story.port, await story.request(file, [`X-Emulator-Fault: ${fault}`]), commit);
    t.same((await story.service.call('GET', '/api/v1/repos/branches')).json, before.json, `what comes behind ${fault}`);
  }
});
