import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { operations } from '../../api/index.js';
import { scenarioFromHar } from '../../scenarios/from-har.js';
import { Recording } from './recording.js';
import { startRecordingProxy } from './recording-proxy.js';

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

async function listen(t: Test, handle: Handle): Promise<URL> {
  const server = createServer(handle);
  t.teardown(() => server.close().closeAllConnections());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

interface Setting {
  readonly apiUrl: URL;
  readonly gitUrl?: URL;
  readonly maxBody?: number;
  readonly keepsGitBodies?: boolean;
}

/** Starts a recording proxy. `finish` closes it, and returns the recording as text and its entries. */
async function startProxy({ apiUrl, gitUrl = apiUrl, maxBody = 65_536, keepsGitBodies = false }: Setting) {
  const recording = new Recording({ maxBody, keepsGitBodies });
  const deployment = { apiUrl, gitUrl, apiHosts: [], gitHosts: [] };
  const proxy = await startRecordingProxy(deployment, recording, {});
  const finish = async () => {
    await proxy.close();
    const har = [...recording.toHar()].join('');
    return { har, entries: JSON.parse(har).log.entries as Entry[] };
  };
  return { url: proxy.url, finish };
}

interface Entry {
  readonly request: { url: string; headers: { name: string; value: string }[]; postData?: { text: string } };
  readonly response: {
    status: number;
    headers: { name: string; value: string }[];
    content: { size: number; text?: string; encoding?: string };
    bodySize: number;
    _error?: string;
  };
  readonly _emulator: { outcome: string; unreached?: true; truncated: { answer: boolean } };
}

interface Sent {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** Sends a request. Resolves to status, headers and body, or to the error of the connection. */
function ask(url: string, { method = 'GET', headers = {}, body }: Sent = {}) {
  return new Promise<{ status?: number; headers?: IncomingMessage['headers']; body?: string; error?: string }>(
    (resolve) => {
      const outgoing = send(url, { method, headers, agent: false }, (incoming) => {
        const { statusCode: status = 0, headers: received } = incoming;
        text(incoming).then(
          (all) => resolve({ status, headers: received, body: all }),
          (error) => resolve({ status, error: error.message }),
        );
      });
      outgoing.on('error', ({ message }) => resolve({ error: message }));
      outgoing.end(body);
    },
  );
}

const canary = (name: string) => `canary-${name}-0123456789`;
const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`;
const JWT = `eyJ${'a'.repeat(30)}.${'b'.repeat(30)}.${'c'.repeat(30)}`;

t.test('a recording contains no secrets', async (t) => {
  const apiUrl = await listen(t, async (request, response) => {
    const sent = await text(request);
    const { authorization = '' } = request.headers;
    const given = authorization.startsWith('Basic ')
      ? Buffer.from(authorization.slice(6), 'base64').toString()
      : authorization;
    // A deployment that repeats everything: headers, credentials, cookies and the body of the request.
    const echo = JSON.stringify({
      given,
      jwt: JWT,
      sent: request.url?.includes('silent') ? '' : sent,
      cookie: request.headers.cookie,
      remote: `https://t:${canary('userinfo')}@git.example.com/team/app.git`,
      env: { KEY: canary('env') },
      secret: canary('webhook'),
    });
    const zipped = request.headers['accept-encoding'] === 'gzip';
    response.writeHead(200, {
      'content-type': 'application/json',
      'set-cookie': [`session=${canary('set-cookie')}; Path=/`, `other=${canary('second')}`],
      'x-auth-token': canary('response-header'),
      location: `https://t:${canary('location')}@git.example.com/`,
      ...(zipped && { 'content-encoding': 'gzip' }),
    });
    response.end(zipped ? gzipSync(echo) : echo);
  });
  const { url, finish } = await startProxy({ apiUrl, keepsGitBodies: true });
  const json = { 'content-type': 'application/json' };
  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    ask(`${url}${path}`, { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(body) });
  await ask(`${url}/api/v1/repo?access_token=${canary('query')}&sha=main`, {
    headers: { authorization: `Bearer ${canary('opaque')}`, cookie: `a=1; session=${canary('cookie')}` },
  });
  await ask(`${url}/api/v1/repo`, { headers: { authorization: `Bearer ${JWT}`, 'accept-encoding': 'gzip' } });
  await ask(`${url}/team/app.git/info/refs?service=git-upload-pack`, {
    headers: { authorization: basic(`user:${canary('password')}`), 'x-api-key': canary('api-key') },
  });
  await post('/api/v1/repos/webhooks', { url: 'https://hooks.example.com', secret: canary('webhook') });
  await post('/api/v1/repos/git-credentials', { username: canary('user'), password: canary('git-password') });
  await post('/another/login', {
    user: 'me',
    password: canary('unknown-route'),
    nested: { api_key: canary('nested') },
  });
  // A body that is cut off, so that its secret members cannot be found.
  const cut = `{"url":"https://hooks.example.com","secret":"${canary('unfinished')}`;
  await ask(`${url}/api/v1/repos`, { method: 'POST', headers: json, body: cut });
  const cutEnv = `{"env":{"KEY":"${canary('cut-env')}`;
  await ask(`${url}/api/v1/repos?silent=1`, { method: 'POST', headers: json, body: cutEnv });
  await ask(`${url}/another/form`, { method: 'POST', body: `user=me&password=${canary('form')}` });
  await ask(`${url}/api/v1/repos/commit?sha=${canary('opaque')}`, {
    headers: { authorization: `Token ${canary('later')}` },
  });
  await ask(`${url}/api/v1/repos/branches?cursor=${encodeURIComponent(canary('later'))}`);
  const { har, entries } = await finish();
  t.equal(entries.length, 11);
  const decoded = entries.flatMap(({ response: { content } }) =>
    content.encoding === 'base64' ? [Buffer.from(content.text ?? '', 'base64').toString()] : [],
  );
  for (const text of [har, ...decoded]) {
    t.notMatch(text, /canary/, text.slice(Math.max(0, text.indexOf('canary') - 200), text.indexOf('canary') + 60));
    t.notMatch(text, JWT);
    t.notMatch(text, Buffer.from(`user:${canary('password')}`).toString('base64'));
  }
  t.match(har, /\[redacted\]/);
  const { scenario } = scenarioFromHar(har, 'a.har', operations);
  t.notMatch(JSON.stringify(scenario), /canary/);
});

t.test('failed exchanges are recorded, and repeated by the scenario', async (t) => {
  const held: ServerResponse[] = [];
  const rows: readonly (readonly [
    path: string,
    handle: Handle | undefined,
    seen: object,
    outcome: string,
    action: object,
  ])[] = [
    ['/api/v1/repo', (_, response) => response.destroy(), { error: 'socket hang up' }, 'cut', { cut: { how: 'fin' } }],
    [
      '/api/v1/repos/branches',
      (_, response) => response.socket!.resetAndDestroy(),
      { error: 'read ECONNRESET' },
      'cut',
      { cut: { how: 'rst' } },
    ],
    [
      '/api/v1/repos/tags',
      (_, response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('0123456789', () => response.destroy());
      },
      { status: 200, error: 'aborted' },
      'cut',
      { raw: { status: 200, bodyBase64: 'MDEyMzQ1Njc4OQ==', cut: { how: 'fin', length: 100 } } },
    ],
    [
      '/api/v1/repos/commits',
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        // The client must read the data before the reset arrives.
        response.write('[1', () => setTimeout(() => response.socket!.resetAndDestroy(), 100));
      },
      { error: 'read ECONNRESET' },
      'cut',
      {
        raw: { status: 200, headers: { 'content-type': 'application/json' }, bodyBase64: 'WzE=', cut: { how: 'rst' } },
      },
    ],
    ['/api/v1/repos/files', (_, response) => held.push(response), {}, 'gone', { cut: { how: 'stall' } }],
  ];
  const apiUrl = await listen(t, (request, response) =>
    rows.find(([path]) => path === request.url)![1]!(request, response),
  );
  const { url, finish } = await startProxy({ apiUrl });
  for (const [path, , seen, outcome] of rows) {
    if (outcome === 'cut') {
      t.match(await ask(`${url}${path}`), seen, path);
      continue;
    }
    const outgoing = send(`${url}${path}`, { agent: false }).on('error', () => {});
    outgoing.end();
    while (held.length === 0) await new Promise(setImmediate);
    outgoing.destroy();
    await once(held[0]!, 'close');
  }
  const { har, entries } = await finish();
  t.same(
    entries.map(({ _emulator }) => _emulator.outcome),
    rows.map(([, , , outcome]) => outcome),
  );
  const { scenario, notReplayed } = scenarioFromHar(har, 'a.har', operations);
  t.same(
    scenario.faults!.map(({ sequence }) => sequence![0]),
    rows.map(([, , , , action]) => action),
  );
  t.same(notReplayed, []);
});

t.test('a deployment that cannot be reached gives a response with status 502', async (t) => {
  const { url, finish } = await startProxy({
    apiUrl: new URL('http://127.0.0.1:1'),
    gitUrl: new URL('https://127.0.0.1:1'),
  });
  const body = (origin: string) => `The recording proxy cannot reach ${origin}: connect ECONNREFUSED 127.0.0.1:1.\n`;
  t.match(await ask(`${url}/api/v1/repo`), { status: 502, body: body('http://127.0.0.1:1') });
  const refs = '/x.git/info/refs?service=git-upload-pack';
  t.match(await ask(`${url}${refs}`), { status: 502, body: body('https://127.0.0.1:1') });
  const { har, entries } = await finish();
  const response = { status: 0, _error: 'connect ECONNREFUSED 127.0.0.1:1' };
  t.match(entries, [
    { response, _emulator: { unreached: true } },
    { request: { url: `https://127.0.0.1:1${refs}` }, response },
  ]);
  const { scenario } = scenarioFromHar(har, 'a.har', operations);
  const bodyBase64 = Buffer.from(body('http://127.0.0.1:1')).toString('base64');
  t.match(scenario.faults, [
    { sequence: [{ raw: { status: 502, headers: { 'content-type': 'text/plain' }, bodyBase64 } }] },
    {},
  ]);
});

t.test('requests and responses are forwarded while they arrive, with their headers', async (t) => {
  const arrived: string[] = [];
  let release = () => {};
  const [apiUrl, gitUrl] = await Promise.all([
    listen(t, async (request, response) => {
      arrived.push(`api ${request.headers.host} ${request.headers['x-sent']} ${request.headers.connection}`);
      request.once('data', () => response.writeHead(200, 'Fine', { 'X-Received': 'a' }).write('first'));
      await Promise.all([once(request, 'end'), new Promise<void>((resolve) => (release = resolve))]);
      response.end('second');
    }),
    listen(t, (request, response) => {
      arrived.push(`git ${request.url}`);
      response.end();
    }),
  ]);
  const { url, finish } = await startProxy({ apiUrl, gitUrl, maxBody: 8 });
  const outgoing = send(`${url}/api/v1/repos`, {
    method: 'POST',
    headers: { 'X-Sent': 'b', te: 'trailers' },
    agent: false,
  });
  outgoing.write('{"a":');
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  t.match(incoming, { statusCode: 200, statusMessage: 'Fine' });
  t.match(incoming.rawHeaders.join(' '), /X-Received a/);
  t.equal(String((await once(incoming, 'data'))[0]), 'first', 'before the request is complete');
  outgoing.end('1}');
  release();
  t.equal(await text(incoming), 'second');
  t.match(await ask(`${url}/team/app.git/HEAD`), { status: 200 });
  t.same(arrived, [`api ${apiUrl.host} b keep-alive`, 'git /team/app.git/HEAD']);
  const { entries } = await finish();
  t.match(entries[0], {
    request: { url: `${apiUrl.origin}/api/v1/repos`, postData: { text: '{"a":1}' } },
    response: { content: { size: 11, text: 'firstsec' } },
    _emulator: { truncated: { answer: true } },
  });
});

t.test('bodies are recorded without their content encoding', async (t) => {
  const json = JSON.stringify({ a: 'x'.repeat(1_000) });
  const encoded: Record<string, Buffer> = {
    gzip: gzipSync(json),
    br: brotliCompressSync(json),
    unknown: Buffer.from(json),
    large: gzipSync('x'.repeat(10_000_000)),
    broken: Buffer.from('not gzip'),
  };
  const apiUrl = await listen(t, ({ url = '' }, response) => {
    const name = url.split('=')[1]!;
    const encoding = name === 'large' || name === 'broken' ? 'gzip' : name;
    response.writeHead(200, { 'content-encoding': encoding, 'content-type': 'application/json' }).end(encoded[name]);
  });
  const { url, finish } = await startProxy({ apiUrl });
  for (const name of Object.keys(encoded)) t.match(await ask(`${url}/api/v1/repo?a=${name}`), { status: 200 });
  const { har, entries } = await finish();
  const [gzip, br, unknown, large, broken] = entries.map(({ response }) => response);
  t.match(gzip, { content: { size: json.length, text: json }, bodySize: encoded.gzip!.length });
  t.match(br, { content: { size: json.length, text: json } });
  for (const each of [unknown, large, broken]) t.notOk(each!.content.text);
  const { scenario, notReplayed } = scenarioFromHar(har, 'a.har', operations);
  t.equal(notReplayed.length, 3);
  t.same(
    scenario.faults![0]!.sequence,
    [0, 1].map(() => ({
      raw: {
        status: 200,
        headers: { 'content-type': 'application/json' },
        bodyBase64: Buffer.from(json).toString('base64'),
      },
    })),
  );
});

t.test('requests for other hosts are neither forwarded nor recorded', async (t) => {
  const apiUrl = await listen(t, (_, response) => response.end());
  const { url, finish } = await startProxy({ apiUrl });
  for (const host of ['evil.example', 'evil.example:80', '[', '10.0.0.1']) {
    t.match(await ask(`${url}/api/v1/repo`, { headers: { host } }), { status: 400 }, host);
  }
  t.match(await ask(`${url}/api/v1/repo`, { headers: { host: 'localhost:1' } }), { status: 200 });
  t.equal((await finish()).entries.length, 1);
});

t.test('a client that expects 100 Continue gets it from the deployment', async (t) => {
  const apiUrl = await listen(t, async (request, response) => response.end(await text(request)));
  const { url, finish } = await startProxy({ apiUrl });
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write(
    'POST /api/v1/repos HTTP/1.1\r\nHost: localhost\r\nContent-Length: 7\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n',
  );
  t.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 100 Continue/);
  socket.write('{"a":1}');
  t.match(await text(socket), /^HTTP\/1\.1 200 OK[\s\S]*"a":1/);
  socket.end();
  t.match((await finish()).entries, [{ request: { postData: { text: '{"a":1}' } } }]);
});
