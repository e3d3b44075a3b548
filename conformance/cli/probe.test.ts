import { existsSync, readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { packageRoot } from '../run/version.js';
import { conformance } from '../test/deployment.js';
import { always, minimal, startTestServer } from '../test/test-server.js';

const key = join(packageRoot(), 'fixtures', 'keys', 'es256.pem');
const probe = (baseUrl: string, ...more: string[]) =>
  conformance('probe', '--base-url', baseUrl, '--org', 'demo', '--key', key, '--rate', 'unlimited', ...more);

/**
 * Returns a request handler that responds to requests for repositories with `list`. Responds with 404 to the names that
 * the suite requests first, because these must not exist.
 */
function differing(list: object): RequestListener {
  return (request, response) => {
    const isAbsent = request.url?.includes('preflight') === true;
    const body = request.url?.startsWith('/api/repos') ? list : {};
    always(isAbsent ? 404 : 200, 'application/json', JSON.stringify(body))(request, response);
  };
}

t.test('no file is written if the target does not respond', async (t) => {
  const file = join(t.testdir({}), 'target.yaml');
  const { code, out, err } = await probe('http://127.0.0.1:1', '--output', file);
  t.same([code, out], [3, '']);
  t.match(err, /^http:\/\/127\.0\.0\.1:1 does not answer: [^\n]+\n$/);
  t.notOk(existsSync(file));
});

t.test('a target that rejects the key results in a file with the known facts', async (t) => {
  const problem = JSON.stringify({ code: 'forbidden', detail: 'no\nsuch key: *x' });
  const server = await startTestServer(always(403, 'application/problem+json', problem));
  t.teardown(() => server.close());
  const file = join(t.testdir({}), 'target.yaml');
  const { code, err } = await probe(server.baseUrl, '--output', file);
  t.equal(code, 3);
  t.match(err, /rejects the key given for demo/);
  const text = readFileSync(file, 'utf8');
  t.match(parse(text), { base_url: server.baseUrl, org: 'demo', variants: undefined, repo: undefined });
  t.match(text, /^# not accepted, or not determined: the target rejects the key/m);
  t.match(text, /^# repo: not determined/m);
});

const SERVERS = {
  'an object without members': differing({}),
  'a list with odd names': differing({ repos: [{ repo_name: 'a: b\n# c' }] }),
};

for (const [what, response] of Object.entries(SERVERS)) {
  t.test(`probe of ${what} writes a valid target file`, async (t) => {
    const server = await startTestServer(response);
    t.teardown(() => server.close());
    const { code, out } = await probe(server.baseUrl, '--timeout', '2000');
    t.equal(code, 0);
    t.match(parse(out), { base_url: server.baseUrl, org: 'demo', keys: { main: { file: /es256\.pem$/ } } });
    t.match(await conformance('probe', '--target', '/absent'), { code: 2, err: /^\/absent cannot be read/ });
  });
}

const OTHERS = {
  'a page for people': always(200, 'text/html', '<!doctype html><title>Sign in</title>'),
  'a redirect': always(302, 'text/plain', '', { location: '/login' }),
  'no answer but a status': always(500, 'text/plain\u00e9', ''),
};

for (const [what, response] of Object.entries(OTHERS)) {
  t.test(`probe of ${what} writes no file: exit code 3`, async (t) => {
    const server = await startTestServer(response);
    t.teardown(() => server.close());
    const { code, out, err } = await probe(server.baseUrl, '--timeout', '2000');
    t.same([code, out], [3, '']);
    t.match(err, /^every response of http:\/\/127\.0\.0\.1:\d+ is [^\n]+\n$/);
  });
}

t.test('facts that could not be determined are listed once per reason', async (t) => {
  const server = await startTestServer(minimal);
  t.teardown(() => server.close());
  const { out } = await probe(server.baseUrl);
  const [, told = ''] = out.split('\n# Not determined:\n');
  const lines = told.trimEnd().split('\n');
  for (const line of lines) t.match(line, /^# - .+: \d+ points?$/);
  t.ok(lines.length < 8, `${lines.length} reasons`);
  t.match(told, /^# - needs a new repository.*: \d\d points$/m);
});

t.test('probe without a target is a usage error', async (t) => {
  t.match(await conformance('probe'), {
    code: 2,
    err: /^no target: use --base-url, --org and --key, or --target\n$/,
  });
  t.match(await probe('http://127.0.0.1:1', '--force'), { code: 2, err: /^--force has no effect without --output/ });
  t.match(await probe('http://127.0.0.1:1', '--output', '/absent/x'), { code: 2, err: /^--output cannot be written/ });
});
