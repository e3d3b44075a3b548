import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { callAdmin } from '../http/admin.js';
import { run, startTargetEmulator } from '../index.js';
import { REPORTERS } from '../report/reporters.js';
import { conformance } from '../test/deployment.js';

/** Writes the text to a HAR file (recorded HTTP traffic), and runs `conformance check-har` on the file. */
async function check(t: Test, recorded: string | object, ...flags: readonly string[]) {
  const file = join(t.testdir({}), 'traffic.har');
  writeFileSync(file, typeof recorded === 'string' ? recorded : JSON.stringify(recorded));
  return call(file, ...flags);
}

const call = (file: string, ...flags: readonly string[]) => conformance('check-har', file, ...flags);

interface Answer {
  readonly url?: string;
  readonly method?: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly sent?: Readonly<Record<string, string>>;
  readonly content?: object;
  readonly more?: object;
}

const fields = (headers: Readonly<Record<string, string>>) =>
  Object.entries(headers).map(([name, value]) => ({ name, value }));

function entry({ url = 'https://api.example/api/v1/repo', method = 'GET', status = 200, ...rest }: Answer = {}) {
  const { headers = { 'content-type': 'application/json' }, sent = {}, content = { size: 2, text: '{}' }, more } = rest;
  return {
    request: { method, url, headers: fields(sent), httpVersion: 'h2' },
    response: { status, headers: fields(headers), content },
    ...more,
  };
}

const har = (...entries: readonly object[]) => ({ log: { version: '1.2', creator: { name: 'x' }, entries } });

const PROBLEM = { 'content-type': 'application/problem+json' };
const problem = (members: object) => {
  const text = JSON.stringify({ type: 'about:blank', title: 'x', detail: 'd', error: 'd', instance: '/', ...members });
  return { size: text.length, text };
};
const RIGHT = entry({ status: 404, headers: PROBLEM, content: problem({ status: 404, code: 'repository_not_found' }) });
const WRONG = entry({ status: 404, headers: PROBLEM, content: problem({ status: '404', code: 'forbidden' }) });

t.test('exit code 0 if the traffic satisfies the rules, 1 with the entry if it breaks a MUST', async (t) => {
  t.match(await check(t, har(RIGHT, entry())), { code: 0, err: '', out: /satisfies every rule/ });
  const { code, out } = await check(t, har(RIGHT, WRONG));
  t.equal(code, 1);
  t.match(
    out,
    /fail problem\.status\.integer\n.*\n {2}violated by 1 of 2 responses: entry 2 \(GET \/api\/v1\/repo, 404\)\n/,
  );
  t.notMatch(out, /conformance run/, 'recorded traffic is not asked for again');
  t.match(await check(t, har(WRONG), '--only', 'problem.title'), { code: 0 });
});

t.test('traffic of which nothing could be checked is not a success', async (t) => {
  for (const [what, recorded] of Object.entries({
    'no entries': har(),
    'other addresses': har(entry({ url: 'https://cdn.example/app.js' }), entry({ url: 'https://x.example/' })),
    'no answers': har(entry({ status: 0 })),
    'no bodies': har(entry({ content: { size: 5 } })),
    'no HTTP': har(entry({ url: 'wss://api.example/api/v1/repo' }), entry({ url: 'data:text/plain,x' })),
  })) {
    t.match(await check(t, recorded), { code: 2, out: /Nothing was checked/ }, what);
  }
});

t.test('requests of a browser to other hosts are listed and not checked', async (t) => {
  const recorded = har(
    RIGHT,
    entry({ url: 'https://cdn.example/x.js', status: 500 }),
    entry({ url: 'https://cdn.example/y.js', status: 500 }),
    entry({ content: { size: 10, mimeType: 'application/json' }, status: 500 }),
    entry({ status: 500, more: { _emulator: { truncated: { answer: true } } } }),
    entry({ method: '', url: 'http://localhost', status: 400 }),
    entry({ headers: { ':status': '200', 'content-type': 'application/json' } }),
  );
  const { code, out } = await check(t, recorded);
  t.equal(code, 0);
  t.match(out, 'Not checked: 2 entries to other addresses.');
  t.match(out, 'Not checked: 1 entry without their body.');
  t.match(out, 'Not checked: 1 entry with a truncated body.');
  t.match(out, 'Not checked: 1 entry of a request that is not valid HTTP.');
  t.match(out, /on 2 of 7 recorded requests/);
  t.match(await check(t, recorded, '--strict', '--base-url', 'https://cdn.example'), { code: 1, out: /err\.5xx-safe/ });
});

t.test('bodies in base64 are read', async (t) => {
  const text = JSON.stringify(JSON.parse(problem({ status: 1, code: 'forbidden' }).text));
  const content = { size: text.length, text: Buffer.from(text).toString('base64'), encoding: 'base64' };
  t.equal((await check(t, har(entry({ status: 403, headers: PROBLEM, content })))).code, 1);
});

t.test('a response that repeats a token of Bearer or Basic is detected', async (t) => {
  const token = `eyJ${'a'.repeat(40)}.${'b'.repeat(40)}.${'c'.repeat(40)}`;
  const content = problem({ status: 403, code: 'forbidden', title: token });
  for (const authorization of [`Bearer ${token}`, `Basic ${Buffer.from(`t:${token}`).toString('base64')}`]) {
    const recorded = har(entry({ status: 403, headers: PROBLEM, sent: { Authorization: authorization }, content }));
    const { code, out } = await check(t, recorded, '--strict');
    t.equal(code, 1);
    t.match(out, 'authfail.no-token-echo');
    t.notMatch(out, token);
  }
});

t.test('no report contains secrets of the file', async (t) => {
  const canary = (name: string) => `canary-${name}-${'x'.repeat(20)}`;
  const hostile = entry({
    url: `https://${canary('user')}:${canary('password')}@api.example/api/${canary('path')}?token=${canary('query')}#${canary('fragment')}`,
    method: canary('method'),
    status: 500,
    headers: { 'set-cookie': canary('set-cookie'), 'content-type': canary('type'), [canary('field')]: canary('value') },
    sent: { authorization: `Bearer ${canary('token')}`, cookie: canary('cookie'), 'x-api-key': canary('key') },
    content: problem({
      status: canary('status'),
      code: canary('code'),
      detail: canary('detail'),
      error: canary('error'),
    }),
    more: { comment: canary('comment'), _x: canary('extra'), serverIPAddress: canary('address') },
  });
  const git = entry({
    url: `https://api.example/${canary('repository')}.git/info/refs?service=git-upload-pack`,
    status: 503,
  });
  const write = entry({
    url: `https://api.example/api/repos/${canary('repository')}/notes`,
    status: 200,
    content: { text: JSON.stringify({ result: { success: true, status: canary('status'), old_sha: canary('sha') } }) },
  });
  const recorded = har(hostile, git, write, WRONG);
  const folder = t.testdir({});
  const files = REPORTERS.map((name) => join(folder, name));
  const flags = REPORTERS.flatMap((name, at) => ['--reporter', `${name}=${files[at]}`]);
  const { code, out, err } = await check(t, recorded, '--strict', ...flags);
  t.equal(code, 1);
  t.notMatch(out + err, 'canary');
  for (const file of files) {
    t.notMatch(readFileSync(file, 'utf8'), 'canary', file);
    t.match(readFileSync(file, 'utf8'), 'err.5xx-safe', 'and says something');
  }
});

t.test('a file that is not an HTTP Archive results in exit code 2 and a sentence without its content', async (t) => {
  const secret = 'canary-secret';
  const whole = har(entry());
  const cases: readonly (readonly [recorded: string | object, says: RegExp])[] = [
    ['', /is not JSON/],
    [`{"log": ${secret}}`, /is not JSON/],
    [JSON.stringify(whole).slice(0, -3), /is not JSON/],
    [`"${secret}"`, /the whole has no object log/],
    [[], /the whole has no object log/],
    [{ log: secret }, /the whole has no object log/],
    [{ log: { entries: { [secret]: 1 } } }, /log\.entries is not an array/],
    [har(entry(), { [secret]: 1 }), /log\.entries\[1\] has no object request/],
    [har({ request: {} }), /log\.entries\[0\] has no object response/],
    [har({ ...entry(), request: { method: 5, url: secret, headers: [] } }), /request\.method is not a string/],
    [har({ ...entry(), request: { method: secret, headers: [] } }), /request\.url is not a string/],
    [har({ ...entry(), response: { status: secret, headers: [] } }), /response\.status is not an integer/],
    [har({ ...entry(), response: { status: 200 } }), /response\.headers is not an array/],
    [har({ ...entry(), response: { status: 200, headers: [secret] } }), /has a field without a name and a value/],
  ];
  for (const [recorded, says] of cases) {
    const { code, out, err } = await check(t, recorded);
    t.same([code, out], [2, ''], String(says));
    t.match(err, says);
    t.match(err, /^[^\n]+\n$/);
    t.notMatch(err, secret);
  }
  t.match(await check(t, `\ufeff${JSON.stringify(whole)}`), { code: 0 }, 'a byte order mark is none of these');
  t.match(await call('/dev/zero'), { code: 2, err: '/dev/zero cannot be read: it is larger than 1 MiB\n' });
  t.match(await call('/absent.har'), {
    code: 2,
    err: /^\/absent\.har cannot be read: no such file \(ENOENT\)\n$/,
  });
  t.match(await check(t, whole, '--only', 'jwt.alg.none'), { code: 2, err: /can be checked on recorded traffic/ });
});

t.test("the emulator's own export satisfies the rules", async (t) => {
  const emulator = await startTargetEmulator();
  t.teardown(() => emulator.close());
  const { baseUrl, adminUrl = '' } = emulator.target;
  await run(emulator.target, { only: 'repo,grep.err,notes.route,git.advertise,problem' });
  const { text } = await callAdmin({ url: `${adminUrl}/requests?format=har` });
  const { code, out } = await check(t, text, '--base-url', baseUrl);
  t.equal(code, 0, out);
  t.match(out, /on [1-9]\d* of \d+ recorded requests/);
});
