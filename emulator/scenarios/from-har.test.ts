import t from 'tap';
import { operations } from '../api/index.js';
import { scenarioFromHar } from './from-har.js';

const SECRET = 'canary-7f3a';

interface Exchange {
  readonly url?: string;
  readonly method?: string;
  readonly asked?: Record<string, string>;
  readonly answer?: Record<string, string>;
  readonly response?: Record<string, unknown>;
  readonly emulator?: object;
}

function pairs(headers: Record<string, string>) {
  return Object.entries(headers).map(([name, value]) => ({ name, value }));
}

/**
 * Creates an entry of a HAR file (recorded request and response). It has a secret in every place that may contain one.
 */
function entryOf({ method = 'GET', url = '/api/v1/repo', asked, answer = {}, response = {}, emulator }: Exchange) {
  return {
    request: {
      method,
      url: `https://t:${SECRET}@api.acme.example${url}?access_token=${SECRET}`,
      headers: pairs(asked ?? { Authorization: `Bearer ${SECRET}`, Cookie: SECRET }),
      postData: { text: SECRET },
    },
    response: { status: 200, headers: pairs({ 'Set-Cookie': SECRET, ...answer }), ...response },
    ...(emulator && { _emulator: emulator }),
  };
}

function read(...exchanges: Exchange[]) {
  const text = JSON.stringify({ log: { version: '1.2', entries: exchanges.map(entryOf) } });
  const { scenario } = scenarioFromHar(text, `/tmp/An incident of May.har`, operations);
  t.notMatch(JSON.stringify(scenario), SECRET, 'the scenario contains no secret');
  return scenario;
}

function refused(status: number, code: string | undefined, response: Record<string, string> = {}): Exchange {
  const body = { code, detail: SECRET, title: SECRET };
  return { answer: response, response: { status, content: { text: JSON.stringify(body) } } };
}

t.test('errors keep their status, their code and their rate headers', async (t) => {
  const scenario = read(
    { url: '/favicon.ico' },
    refused(429, 'rate_limited', { 'Retry-After': '7', RateLimit: '"x";r=0;t=5' }),
    refused(503, undefined),
    {},
    refused(409, 'repository_thawing', { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }),
    refused(503, 'sync_in_progress', { 'retry-after': 'soon' }),
    refused(418, 'teapot_found'),
    refused(418, `${SECRET}_1`),
    {},
  );
  t.match(scenario, { id: 'An-incident-of-May', expect: { faults: { everyFired: true } } });
  t.strictSame(scenario.faults, [
    {
      match: { op: 'getRepository' },
      sequence: [
        { error: { code: 'rate_limited', retryAfter: 7, t: 5 } },
        { error: { code: 'service_unavailable', retryAfter: 'omit' } },
        'pass',
        { error: { code: 'repository_thawing', retryAfter: 'http-date' } },
        { code: { status: 503, code: 'sync_in_progress', retryAfter: 'garbage' } },
        { code: { status: 418, code: 'teapot_found' } },
        { raw: { status: 418 } },
      ],
      expect: { fired: 6 },
    },
  ]);
});

t.test('aborted responses are cut at the same byte', async (t) => {
  const push = { method: 'POST', url: '/team/app.git/git-receive-pack' };
  const fetch = { method: 'POST', url: '/team/app.git/git-upload-pack' };
  const refs = { url: '/team/app.git/info/refs' };
  const { faults } = read(
    { response: { status: 200, bodySize: 10 }, answer: { 'content-length': '30' } },
    { response: { status: 200, bodySize: 30 }, answer: { 'content-length': '30' } },
    { response: { status: 0, _error: 'net::ERR_CONNECTION_RESET' } },
    { ...fetch, response: { status: 200, bodySize: 99, _error: 'net::ERR_INCOMPLETE_CHUNKED_ENCODING' } },
    { ...push, response: { status: 0 } },
    { ...refs, response: { status: 200, bodySize: 5 }, emulator: { outcome: 'cut' } },
    { ...refs, response: { status: 200, bodySize: 5 }, emulator: { outcome: 'gone' } },
  );
  t.strictSame(
    faults!.map(({ expect: _, ...fault }) => fault),
    [
      {
        match: { op: 'getRepository' },
        sequence: [{ cut: { at: { bytes: 10 }, how: 'fin' } }, 'pass', { cut: { at: { bytes: 0 }, how: 'rst' } }],
      },
      { match: { op: 'gitUploadPack' }, sequence: [{ cut: { at: { bytes: 99 }, how: 'fin' } }] },
      { match: { op: 'gitReceivePack' }, sequence: [{ lost: 'fin' }] },
      { match: { op: 'gitInfoRefs' }, at: 'git.advertise', sequence: [{ cut: { at: { bytes: 5 }, how: 'fin' } }] },
    ],
  );
});

t.test("an error that is not the service's own keeps its body and media type", async (t) => {
  const page = '<html><h1>502 Bad Gateway</h1>nginx – «ü»</html>';
  const html = (content: object, type = 'text/html; charset=utf-8', status = 502): Exchange => ({
    answer: { 'content-type': type },
    response: { status, content },
  });
  const { faults } = read(
    html({ text: page }),
    html({ text: Buffer.from(page).toString('base64'), encoding: 'base64' }, 'text/html;charset="UTF-8"; x=canary'),
    html({ text: 'ü' }, 'text/plain; charset=iso-8859-1', 404),
    html({ text: '<title>Bearer eyJhbGciOi.eyJpc3Mi.c2ln</title>' }, 'TEXT/HTML'),
    html({ size: 0 }),
    { response: { status: 503, content: { mimeType: 'text/html', text: 'busy' } }, answer: { 'retry-after': '9' } },
    html({ text: '{}' }, 'application/vnd.acme+json'),
  );
  const bodies = faults![0]!.sequence!.map((action) => {
    if (action === 'pass' || !('raw' in action)) return action;
    const { status, headers, bodyBase64 = '' } = action.raw;
    return [status, headers, Buffer.from(bodyBase64, 'base64').toString('latin1')];
  });
  const type = { 'content-type': 'text/html; charset=utf-8' };
  const bytes = Buffer.from(page).toString('latin1');
  t.strictSame(bodies, [
    [502, type, bytes],
    [502, { 'content-type': 'text/html; charset=UTF-8' }, bytes],
    [404, { 'content-type': 'text/plain; charset=iso-8859-1' }, '\xfc'],
    [502, { 'content-type': 'TEXT/HTML' }, '<title>Bearer [redacted]</title>'],
    [502, type, ''],
    [503, { 'content-type': 'text/html', 'retry-after': '9' }, 'busy'],
    { error: { code: 'bad_gateway', retryAfter: 'omit' } },
  ]);
  const git = { url: '/team/app.git/info/refs', answer: { 'content-type': 'text/plain; charset=utf-8' } };
  t.match(read({ ...git, response: { status: 404, content: { text: 'no\n' } } }).faults, [
    { sequence: [{ error: { code: 'not_found' } }] },
  ]);
  const large = Array.from({ length: 20 }, () => html({ text: 'x'.repeat(900_000) }));
  t.throws(() => read(...large), { message: /larger than 16 MiB, the maximum\. Remove requests from the archive\.$/ });
});

t.test('a 401 to a request without credentials needs no fault', async (t) => {
  const bare = { ...refused(401, 'unauthorized'), asked: {} };
  t.same(read(bare, {}).faults, []);
  t.match(
    read(bare).faults,
    [{ sequence: [{ error: { code: 'unauthorized' } }] }],
    'unless no request has credentials',
  );
});
