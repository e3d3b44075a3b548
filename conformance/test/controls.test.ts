import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { listenOnLoopback } from '../http/listen.js';
import { reporterOf } from '../report/reporters.js';
import type { Report } from '../report/results.js';
import { allRules } from '../rules/registry.js';
import { conformance } from './deployment.js';
import { MAX_LINES } from './mutants/controls.js';
import { afterPreflight, always, minimal, startTestServer } from './test-server.js';

t.setTimeout(180_000);

/**
 * Runs the `conformance` command against servers that implement the repository hosting API only in part or not at all.
 * The command's messages must distinguish three cases: a wrong target, a connection that breaks, and an absent server.
 */

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const key = join(t.testdir(), 'key.pem');
writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }));

/**
 * Runs `conformance run` against the server at `baseUrl`, and reads its JSON report. `more` has additional command-line
 * flags.
 */
async function check(baseUrl: string, ...more: string[]) {
  const flags = ['--base-url', baseUrl, '--org', 'demo', '--key', key, '--repo', 'app', '--rate', '10000'];
  const timeout = more.includes('--timeout') ? [] : ['--timeout', '500'];
  const { code, out, err } = await conformance('run', ...flags, ...timeout, '--reporter', 'json', ...more);
  const report: Report | undefined = out === '' ? undefined : JSON.parse(out);
  return { code, report, err };
}

/**
 * Asserts that a report is complete: each rule has a verdict, and no rule ended with an internal error of the suite.
 */
function checkWhole(t: Test, report: Report | undefined): void {
  t.equal(report?.rules.length, allRules().length, 'every rule has a verdict');
  t.equal(report?.counts.error, 0, 'nothing in the suite broke');
  const silent = report?.rules.filter(({ verdict, reason }) => verdict !== 'pass' && verdict !== 'observed' && !reason);
  t.same(silent, [], 'what does not hold says why');
  if (report === undefined) return;
  const lines = reporterOf('pretty', false)(report).split('\n');
  t.ok(lines.length < MAX_LINES, `a person reads ${lines.length} lines`);
  const long = lines.filter((line) => line.length > 5000).map((line) => line.length);
  t.same(long, [], 'none of them is endless');
}

const SAME: readonly (readonly [what: string, answer: RequestListener, says: RegExp])[] = [
  ['200 {}', always(200, 'application/json', '{}'), /alike, even without a token .*\(200 application\/json: \{\}\)/],
  ['500', always(500, 'text/plain', 'oops'), /an error \(500 text\/plain: oops\); is the service up\?$/],
  ['404 as a page', always(404, 'text/html', '<h1>Not found</h1>'), /a web page \(404 text\/html\)/],
  ['a page to sign in', always(200, 'text/html', '<title>Sign in</title>'), /is this the address of the API\?$/],
  [
    'a redirect to one',
    always(302, 'text/html', '', { location: 'https://login.example.com/?next=secret' }),
    /a redirect to https:\/\/login\.example\.com\/ \(302\); is this the address of the API\?$/,
  ],
];

for (const [what, answer, says] of SAME) {
  t.test(`a server that answers everything with ${what} is not checked: exit code 3`, async (t) => {
    const server = await startTestServer(answer);
    t.teardown(() => server.close());
    const { code, report, err } = await check(server.baseUrl);
    t.equal(code, 3);
    t.equal(report, undefined);
    t.match(err.trimEnd(), says);
    t.equal(err.trim().split('\n').length, 1, 'one line');
  });
}

for (const [what, answer] of SAME) {
  t.test(`a server that answers with ${what} after the first requests fails: exit code 1`, async (t) => {
    const server = await startTestServer(afterPreflight(answer));
    t.teardown(() => server.close());
    const { code, report } = await check(server.baseUrl);
    t.equal(code, 1);
    checkWhole(t, report);
    t.match(report?.notices, [/responses are identical/], 'and the report says that all responses are identical');
  });
}

t.test('a redirect is named in the report', async (t) => {
  const server = await startTestServer(
    afterPreflight(always(302, 'text/html', '', { location: 'https://login.example.com/' })),
  );
  t.teardown(() => server.close());
  const { report } = await check(server.baseUrl, '--only', 'repo.get.route');
  t.match(report?.rules[0], { verdict: 'fail', actual: '302 to https://login.example.com/' });
});

t.test('truncated responses break the rules: exit code 1', async (t) => {
  const server = await startTestServer(
    afterPreflight((request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{"cut":', () => response.destroy());
    }),
  );
  t.teardown(() => server.close());
  const { code, report } = await check(server.baseUrl);
  t.equal(code, 1);
  checkWhole(t, report);
  const route = report?.rules.find(({ id }) => id === 'repo.get.route');
  t.match(route, { verdict: 'fail', expected: 'an HTTP response', actual: /^the response was truncated/ });
  t.match(route?.transcript?.at(-1)?.response, /^\(the response was truncated.*\)\n200\n/, 'with what there was of it');
});

t.test('a server that closes the connection on half of its routes fails: exit code 1', async (t) => {
  const server = await startTestServer((request, response) => {
    if (request.url?.startsWith('/api/v1/repos/')) request.socket.destroy();
    else minimal(request, response);
  });
  t.teardown(() => server.close());
  const { code, report } = await check(server.baseUrl);
  t.equal(code, 1);
  checkWhole(t, report);
  t.ok(report?.rules.some(({ actual }) => /^the connection was closed before a response/.test(String(actual))));
});

type Take = (socket: Socket) => void;

/**
 * Starts a TCP server that calls `take` with each connection. The server sends no HTTP response unless `take` writes
 * one.
 */
async function startSocketServer(take: Take): Promise<{ url: string; close: () => void }> {
  const server = createServer();
  const sockets = new Set<{ destroy: () => void }>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    take(socket);
  });
  const url = `http://${await listenOnLoopback(server)}`;
  return {
    url,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

const SILENT: readonly (readonly [what: string, take: Take, says: RegExp])[] = [
  ['closes every connection', (socket) => socket.destroy(), /does not answer: the connection was closed/],
  ['never answers', () => undefined, /does not answer: no response before the timeout/],
  [
    'speaks another protocol',
    (socket) => socket.end('SSH-2.0-x\r\n'),
    /does not answer: the response is not valid HTTP/,
  ],
];

for (const [what, take, says] of SILENT) {
  t.test(`a server that ${what} is not checked: exit code 3`, async (t) => {
    const server = await startSocketServer(take);
    t.teardown(server.close);
    const { code, report, err } = await check(server.url);
    t.equal(code, 3);
    t.equal(report, undefined);
    t.match(err, says);
    t.equal(err.trim().split('\n').length, 1, 'one line');
  });
}

t.test('a target that stops accepting connections ends the run: exit 3', async (t) => {
  let count = 0;
  const server = await startTestServer((request, response) => {
    count += 1;
    if (count === 20) void server.close();
    else minimal(request, response);
  });
  const { code, report } = await check(server.baseUrl);
  t.equal(code, 3);
  checkWhole(t, report);
  t.match(report?.ended, { by: 'target', reason: /^http:\/\/127.* no longer accepts connections/ });
  const blocked = report?.rules.filter(({ verdict }) => verdict === 'blocked') ?? [];
  t.ok(blocked.length > 100, 'what was not checked is blocked');
  t.same([...new Set(blocked.map(({ reason }) => reason))], [report?.ended?.reason]);
});

t.test('a target that stops responding ends the run: exit 3', async (t) => {
  let count = 0;
  const server = await startTestServer((request, response) => {
    count += 1;
    if (count < 20) minimal(request, response);
  });
  t.teardown(() => server.close());
  const { code, report } = await check(server.baseUrl, '--timeout', '200');
  t.equal(code, 3);
  t.match(report?.ended, { by: 'target', reason: /stopped responding: 16 requests in a row/ });
});

t.test('a target that always throttles ends the run: exit 3', async (t) => {
  let count = 0;
  const throttle = always(429, 'application/json', '{}', { 'retry-after': '3600' });
  const server = await startTestServer(
    afterPreflight((request, response) => {
      count += 1;
      throttle(request, response);
    }),
  );
  t.teardown(() => server.close());
  const { code, report } = await check(server.baseUrl);
  t.equal(code, 3);
  checkWhole(t, report);
  t.match(report?.ended?.reason, /^every response of the target is 429: throttled: the target asks to wait 3600 s/);
  t.ok(count < 30, 'and is not asked on and on');
});

t.test('without --write nothing is written to a local server that is not an emulator', async (t) => {
  const written: string[] = [];
  const server = await startTestServer((request, response) => {
    if (request.method !== 'GET') written.push(`${request.method} ${request.url}`);
    minimal(request, response);
  });
  t.teardown(() => server.close());
  const { report } = await check(server.baseUrl);
  t.equal(report?.mode.write, false);
  const writing = written.filter((one) =>
    /^(PUT|PATCH|DELETE)|commit-pack|restore|reset|notes|POST \/api\/repos$/.test(one),
  );
  t.same(writing, []);
  const given = await check(server.baseUrl, '--write', '--only', 'repo.get.route');
  t.equal(given.report?.mode.write, true);
  t.match(written, [/./]);
});
