import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t, { type Test } from 'tap';
import { isEmulator, type Options, run } from '../index.js';
import { packageRoot } from '../target/package-root.js';
import { conformance } from './deployment.js';
import { afterPreflight, always, minimal, startTestServer } from './test-server.js';

t.setTimeout(180_000);

const key = join(packageRoot(), 'fixtures', 'keys', 'es256.pem');
const only = 'other.meta.exists';

async function serve(t: Test, answer: RequestListener) {
  const server = await startTestServer(answer);
  t.teardown(() => server.close());
  return server;
}

/**
 * Runs one rule on a server with this request handler. Asserts that the run ends before it checks any rule, with an
 * error message that matches `says`.
 */
async function refuses(t: Test, answer: RequestListener, says: RegExp, options: Options = {}): Promise<void> {
  const { target } = await serve(t, answer);
  await t.rejects(run(target, { only, timeout: 3000, ...options }), { name: 'Unready', message: says });
}

const json = (status: number, value: unknown, headers: Record<string, string> = {}, type = 'application/json') =>
  always(status, type, JSON.stringify(value), headers);

const old = new Date(Date.now() - 7_200_000);

const PAGE = '<!DOCTYPE html><html><title>Blocked</title></html>';

const OTHERS: Record<string, readonly [answer: RequestListener, says: RegExp]> = {
  'a page of a corporate proxy (403)': [
    always(403, 'text/html', PAGE),
    /^every response of \S+ is a web page \(403 text\/html\); is a proxy or a login page in front of the API\?$/,
  ],
  'a page that asks to sign in (401)': [always(401, 'text/html', PAGE), /a web page \(401 .* a proxy or a login page/],
  'plain text': [always(200, 'text/plain', 'It works!\n'), /something other than JSON \(200 text\/plain: It works!\);/],
  'only a status': [always(204, 'text/plain', ''), /something other than JSON \(204 text\/plain\)/],
  'a page without a media type': [always(200, '', PAGE), /a web page/],
  'an empty list': [json(200, []), /alike, even without a token and for an absent route \(200 .*: \[\]\)/],
  'a repeated list': [json(200, { repos: [] }), /alike, even without a token/],
  'errors of another API': [
    (request, response) => json(404, { status: 404, error: 'Not Found', path: request.url })(request, response),
    /alike, even without a token .*\(404 application\/json: \{"status":404/,
  ],
  'a refusal of another API': [json(403, { message: 'Missing Authentication Token' }), /alike, .*\(403 /],
  'an error of a gateway': [
    (request, response) => always(request.url === '/api/repos' ? 502 : 503, 'text/html', PAGE)(request, response),
    /^every response of \S+ is an error \(502, 503 text\/html: .*\); is the service up\?$/,
  ],
  'a redirect to HTTPS': [
    (request, response) => always(301, '', '', { location: `https://a.example${request.url}` })(request, response),
    /^every response of \S+ is a redirect to https:\/\/a\.example\/api\/repos \(301\)/,
  ],
};

for (const [what, [answer, says]] of Object.entries(OTHERS)) {
  t.test(`a server that answers everything with ${what} is not the service`, (t) => refuses(t, answer, says));
}

t.test('the message has one line and repeats no token', async (t) => {
  const server = await serve(t, (request, response) => {
    always(200, 'text/plain', `${request.headers.authorization}\n\u0007x`)(request, response);
  });
  const flags = ['--base-url', server.baseUrl, '--org', 'demo', '--key', key, '--timeout', '3000'];
  const { code, out, err } = await conformance('run', ...flags);
  t.same([code, out], [3, '']);
  t.match(err, /^every response of [^\n]+\n$/);
  t.notMatch(err, /eyJ[A-Za-z0-9_-]{8,}/);
  t.notOk(err.includes('\u0007'));
});

/**
 * Sends a space every 20 ms and never ends the response. A timeout that restarts with each received part therefore
 * never expires.
 */
function trickle(_request: unknown, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 20);
  response.on('close', () => clearInterval(timer));
}

t.test('a body that never ends counts as no response', async (t) => {
  await refuses(t, trickle, /does not answer: timed out while receiving the response$/, { timeout: 200 });
  const server = await startTestServer(minimal, trickle);
  t.teardown(() => server.close());
  t.equal(await isEmulator(`${server.baseUrl}/_emulator`, 200), false, 'and ends the search for an emulator');
});

t.test('probe and gc refuse the same targets with the same message', async (t) => {
  const { baseUrl } = await serve(t, always(200, 'text/html', PAGE));
  const target = ['--base-url', baseUrl, '--org', 'demo', '--key', key, '--rate', 'unlimited'];
  t.match(await conformance('probe', ...target), { code: 3, out: '', err: /^every response of .* a web page/ });
  const entry = { base_url: baseUrl, org: 'demo', name: 'cf-12345678/n1', pid: 2 ** 30, time: old.toISOString() };
  const journal = join(t.testdir({ 'made.jsonl': `${JSON.stringify(entry)}\n` }), 'made.jsonl');
  const { code, out } = await conformance('gc', ...target, '--journal', journal);
  t.same(code, 3);
  t.match(out, /^left cf-12345678\/n1: every response of .* a web page/);
});

/**
 * Returns the responses of a correct service to the requests that precede a run: a list of repositories, metadata, and
 * refusals. `given` replaces some of them.
 */
function service(given: Partial<Record<'list' | 'meta' | 'anonymous' | 'repo' | 'absent', RequestListener>> = {}) {
  const refusal = (status: number, code: string) =>
    json(status, { title: 'x', status, detail: 'x', error: 'x', code }, {}, 'application/problem+json; charset=utf-8');
  const answers = {
    list: json(200, { repos: [] }),
    meta: json(200, {}),
    anonymous: refusal(401, 'unauthorized'),
    repo: refusal(404, 'repository_not_found'),
    absent: refusal(404, 'route_not_found'),
    ...given,
  };
  const handle: RequestListener = (request, response) => {
    const { url = '', headers } = request;
    const name =
      headers.authorization === undefined
        ? 'anonymous'
        : url.startsWith('/api/repos')
          ? 'list'
          : url.startsWith('/api/meta')
            ? 'meta'
            : url.startsWith('/api/v1/repo')
              ? 'repo'
              : 'absent';
    answers[name](request, response);
  };
  return handle;
}

const scope = json(403, { code: 'insufficient_scope', detail: 'x' }, {}, 'application/problem+json; charset=utf-8');
const notFound = json(404, { code: 'repository_not_found', detail: 'x' }, {}, 'application/problem+json');

const UNUSUAL: Record<string, RequestListener> = {
  'has no repositories, in another shape': service({ list: json(200, []) }),
  'has a list and metadata without members': service({ list: json(200, {}) }),
  'has a list longer than what is read': service({ list: json(200, { repos: Array(200_000).fill('repository') }) }),
  'accepts no listing with this key': service({ list: scope, meta: scope }),
  'responds 404 to both': service({ list: notFound, meta: notFound }),
  'has broken lists and metadata': service({ list: always(500, 'text/html', PAGE), meta: always(500, '', '') }),
  'sends pages instead of errors': service({
    anonymous: always(401, 'text/html', PAGE),
    repo: always(404, 'text/html', PAGE),
    absent: always(404, 'text/html', PAGE),
  }),
  'sends unknown headers': service({ meta: json(200, {}, { 'x-unknown': 'é', via: '1.1 a', server: 'b' }) }),
  'sends JSON without a media type': service({ list: always(200, '', '[]'), meta: always(200, '', '{}') }),
  'throttles everything': always(429, 'application/json', '{}', { 'retry-after': '3600' }),
  'states its time in another time zone': service({
    list: json(200, [], { date: 'Thu, 26 Nov 2020 19:46:44 +0200' }),
    meta: json(200, {}, { date: 'Thu Nov 26 19:46:44 2020' }),
  }),
  'has a cache that is two hours old': service({
    list: json(200, [], { date: old.toUTCString(), age: '7200' }),
    meta: json(200, {}, { date: old.toUTCString(), age: '7195' }),
  }),
  'states no time': (request, response) => {
    response.sendDate = false;
    service()(request, response);
  },
};

for (const [what, answer] of Object.entries(UNUSUAL)) {
  t.test(`a service that ${what} is checked`, async (t) => {
    const { target } = await serve(t, answer);
    const report = await run({ ...target, write: false }, { only, timeout: 3000, rate: Number.POSITIVE_INFINITY });
    t.equal(report.rules.length, 1);
  });
}

t.test('a wrong clock is named even if the target refuses the token', async (t) => {
  const date = old.toUTCString();
  const says = /^the target's clock differs from the local clock by 7\d{3} s/;
  await refuses(t, json(401, { code: 'unauthorized' }, { date }), says);
  await refuses(t, json(403, { code: 'forbidden' }, { date }), says);
  await refuses(t, always(401, 'text/plain', 'expired', { date }), says);
  await refuses(t, service({ list: json(200, [], { date }), meta: json(200, {}, { date }) }), says);
});

t.test('an interruption before the first rule ends the run with a report', async (t) => {
  const abort = new AbortController();
  const { target } = await serve(t, () => abort.abort());
  const report = await run(target, { only, signal: abort.signal });
  t.equal(report.exit_code, 130);
  t.match(report.rules, [{ verdict: 'skip', reason: 'interrupted' }]);
});

t.test('an interruption ends the check of deletions', async (t) => {
  const abort = new AbortController();
  const { target } = await serve(
    t,
    afterPreflight(() => abort.abort()),
  );
  const report = await run(target, { only, signal: abort.signal });
  t.equal(report.exit_code, 130);
});

t.test('a target that closes every connection from some request on ends the run: exit code 3', async (t) => {
  let count = 0;
  const { target } = await serve(t, (request, response) => {
    count += 1;
    if (count > 20) request.socket.destroy();
    else minimal(request, response);
  });
  const report = await run({ ...target, write: false, repo: 'app' }, { rate: Number.POSITIVE_INFINITY });
  t.equal(report.exit_code, 3);
  t.match(report.ended, { by: 'target', reason: /^\S+ stopped responding: it closes every connection$/ });
  t.ok(report.counts.blocked > 100);
});

t.test('an HTTPS address without a trusted certificate or without TLS is named: exit code 3', async (t) => {
  const args = [join(packageRoot(), 'bin', 'emulator.js'), 'start', '--port', '0', '--tls', '--log', 'quiet'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  t.teardown(() => child.kill());
  const [line] = await once(createInterface(child.stdout), 'line');
  const { base_url: http, https_base_url: https } = JSON.parse(line);
  const flags = ['--org', 'demo', '--key', key];
  const untrusted = await conformance('run', '--base-url', https, ...flags);
  t.match(untrusted, {
    code: 3,
    out: '',
    err: /^\S+ has no trusted TLS certificate: [^\n]*; NODE_EXTRA_CA_CERTS .*\n$/,
  });
  const plain = await conformance('run', '--base-url', http.replace('http:', 'https:'), ...flags);
  t.match(plain, { code: 3, out: '', err: /^\S+ does not answer over TLS: [^\n]*; is it an http address\?\n$/ });
});
