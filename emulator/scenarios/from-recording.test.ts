import t from 'tap';
import { operations } from '../api/index.js';
import { scenarioFromHar } from './from-har.js';

interface Recorded {
  readonly url?: string;
  readonly method?: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly content?: { readonly size: number; readonly text?: string; readonly encoding?: string };
  readonly began?: number;
  readonly wait?: number;
  readonly emulator?: object;
}

const BODY = { size: 2, text: '{}' };
const RAW = { raw: { status: 200, bodyBase64: 'e30=' } };
const START = Date.parse('2026-01-01T00:00:00Z');

function entryOf({
  url = '/api/v1/repo',
  method = 'GET',
  status = 200,
  headers = {},
  content = BODY,
  ...rest
}: Recorded) {
  const { began = 0, wait = 10, emulator = {} } = rest;
  return {
    startedDateTime: new Date(START + began).toISOString(),
    time: wait + 1,
    request: { method, url: `https://api.example.com${url}`, headers: [] },
    response: {
      status,
      headers: Object.entries(headers).map(([name, value]) => ({ name, value })),
      content,
    },
    timings: { wait },
    _emulator: { outcome: 'complete', ...emulator },
  };
}

function convert(exchanges: readonly Recorded[], facts: object = {}) {
  const log = { version: '1.2', _emulator: { recorded: true, ...facts }, entries: exchanges.map(entryOf) };
  return scenarioFromHar(JSON.stringify({ log }), 'incident.har', operations);
}

t.test('each operation repeats its responses in order, before the token is checked', async (t) => {
  const { scenario, notReplayed } = convert([
    { url: '/api/v1/repos', method: 'POST', status: 201, headers: { 'content-type': 'application/json' } },
    { status: 401, content: { size: 0 } },
    { url: '/team/app.git/info/refs?service=git-upload-pack', content: { size: 3, text: '/+8=', encoding: 'base64' } },
    { began: 100 },
    { began: 200, method: 'HEAD', content: { size: 0 } },
  ]);
  t.same(notReplayed, []);
  t.match(scenario, {
    id: 'incident',
    about: /^Responses to 5 recorded requests/,
    expect: { faults: { everyFired: true } },
  });
  t.strictSame(scenario.faults, [
    {
      match: { op: 'createRepository' },
      at: 'headers',
      sequence: [{ raw: { status: 201, headers: { 'content-type': 'application/json' }, bodyBase64: 'e30=' } }],
      expect: { fired: 1 },
    },
    {
      match: { op: 'getRepository' },
      at: 'headers',
      sequence: [{ raw: { status: 401 } }, RAW, { raw: { status: 200 } }],
      expect: { fired: 3 },
    },
    {
      match: { op: 'gitInfoRefs' },
      at: 'headers',
      sequence: [{ raw: { status: 200, bodyBase64: '/+8=' } }],
      expect: { fired: 1 },
    },
  ]);
});

t.test('headers of the connection, and headers with secrets, are not repeated', async (t) => {
  const headers = {
    'Content-Type': 'text/html',
    'X-Other': 'a',
    'x-other': 'b',
    'Content-Length': '2',
    'Transfer-Encoding': 'chunked',
    Connection: 'close',
    Date: 'Thu, 01 Jan 2026 00:00:00 GMT',
    'Set-Cookie': '[redacted]',
    Location: 'https://[redacted]@a.example/',
    'X-Invalid': 'a\u0000b',
    'Content-Encoding': 'gzip',
  };
  const { scenario } = convert([{ headers }]);
  t.strictSame(scenario.faults![0]!.sequence, [
    { raw: { status: 200, headers: { 'content-type': 'text/html', 'x-other': 'a, b' }, bodyBase64: 'e30=' } },
  ]);
});

t.test('every exchange that cannot be repeated is named, and passes', async (t) => {
  const { scenario, notReplayed } = convert(
    [
      { url: '/favicon.ico' },
      { content: { size: 9 } },
      { url: '/team/app.git/git-upload-pack', method: 'POST', content: { size: 9 } },
      { emulator: { truncated: { answer: true } } },
      { status: 700 },
      {},
    ],
    { dropped: 3 },
  );
  t.same(notReplayed, [
    'Entry 1 (GET /favicon.ico, 200): the emulator has no such route.',
    'Entry 2 (GET /api/v1/repo, 200): the recording does not contain the body of the response.',
    'Entry 3 (POST /team/app.git/git-upload-pack, 200): the recording does not contain the body of the response; record it with --keep-git-bodies.',
    'Entry 4 (GET /api/v1/repo, 200): the body of the response is longer than the recording keeps; record it with a larger --max-body.',
    'Entry 5 (GET /api/v1/repo, 700): the status 700 cannot be simulated.',
    '3 later exchanges: they are missing, because the recording was full.',
  ]);
  t.same(scenario.faults, [
    { match: { op: 'getRepository' }, at: 'headers', sequence: ['pass', 'pass', 'pass', RAW], expect: { fired: 1 } },
  ]);
});

t.test('long delays are repeated, rounded', async (t) => {
  const delays = [499, 500, 1_234, 9_970, 12_345].map((wait, index) => ({ wait, began: index * 100_000 }));
  const { scenario } = convert([
    ...delays,
    { wait: 5_000, status: 0, content: { size: 0 }, emulator: { outcome: 'gone' }, began: 900_000 },
  ]);
  const ms = (value: number) => ({ latency: { ms: value } });
  t.match(scenario.faults, [
    { sequence: ['pass', ms(500), ms(1_200), ms(10_000), ms(12_000)], expect: { fired: 4 } },
    { sequence: [RAW, RAW, RAW, RAW, RAW, { cut: { how: 'stall' } }], expect: { fired: 6 } },
  ]);
});

t.test('concurrent requests with different targets have separate sequences', async (t) => {
  const file = (path: string, began: number, more: Recorded = {}): Recorded => ({
    url: `/api/v1/repos/file?path=${path}`,
    wait: 100,
    began,
    ...more,
  });
  const sequential = convert([file('a', 0), file('b', 500), file('a', 1_000)]);
  t.match(sequential.scenario.faults, [{ match: { op: 'readFile' }, sequence: [RAW, RAW, RAW] }]);
  const { scenario } = convert([
    file('a', 0),
    file('b', 50),
    file('a', 500, { status: 404 }),
    file('c&ref=x%20y', 510),
    file('[redacted]', 520),
  ]);
  const fault = (path: unknown, ref: unknown, ...sequence: unknown[]) => ({
    match: { op: 'readFile', http: { method: 'GET', query: { path, ref } } },
    at: 'headers',
    sequence,
    expect: { fired: sequence.length },
  });
  const none = { present: false };
  t.strictSame(scenario.faults, [
    fault({ equals: 'a' }, none, RAW, { raw: { status: 404, bodyBase64: 'e30=' } }),
    fault({ equals: 'b' }, none, RAW),
    fault({ equals: 'c' }, { equals: 'x y' }, RAW),
    fault({ present: true }, none, RAW),
  ]);
  const clone = (name: string, began: number): Recorded => ({
    url: `/${name}.git/git-upload-pack`,
    method: 'POST',
    wait: 100,
    began,
  });
  const clones = convert([clone('team/a', 0), clone("team/o'b%20c", 10)]);
  t.match(clones.scenario.faults, [{ match: { repo: 'team/a' } }, { match: { repo: "team/o'b c" } }]);
  const deployment = (id: string, began: number): Recorded => ({
    url: `/api/repos/r/deployments/${id}`,
    wait: 100,
    began,
  });
  const deployments = convert([deployment('1', 0), deployment('2', 10)]);
  t.match(deployments.scenario.faults, [{ match: { repo: 'r', http: { method: 'GET' } }, sequence: [RAW, RAW] }]);
  const many = Array.from({ length: 200 }, (_, index) => file(String(index), index));
  t.equal(convert(many).scenario.faults!.length, 1, 'if there were too many faults, one sequence is used');
});

t.test('a recording with more responses than a scenario may have is refused', async (t) => {
  const many = Array.from({ length: 1_001 }, (_, index) => ({ began: index * 100 }));
  t.throws(() => convert(many), { message: /^incident\.har has 1001 requests of getRepository, but at most 1000 are/ });
  const text = 'x'.repeat(2_000_000);
  const large = Array.from({ length: 8 }, (_, index) => ({ began: index * 100, content: { size: 2_000_000, text } }));
  t.throws(() => convert(large), { message: /would be larger than 16 MiB, the maximum/ });
});
