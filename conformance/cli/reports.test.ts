import { spawnSync } from 'node:child_process';
import { chmodSync, lstatSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { XMLParser } from 'fast-xml-parser';
import { decodeJwt } from 'jose';
import t, { type Test } from 'tap';
import { reportWith, resultOf } from '../report/test/sample-report.js';
import { packageRoot } from '../run/version.js';
import { conformance as call } from '../test/deployment.js';
import { minimal, startTestServer } from '../test/test-server.js';

const script = join(packageRoot(), 'bin', 'conformance.js');
const key = join(packageRoot(), 'fixtures', 'keys', 'es256.pem');

const FAILED = resultOf('fail', 'jwt.alg.none', {
  section: 'Token header',
  recipe: { repo: 'app', scopes: ['git:read'], defect: 'unsigned', claims: { exp: { from_now: 60 } } },
});
const REPORT = reportWith(
  [resultOf('pass'), resultOf('observed', 'err.method', { observed: { outcome: '405' } }), FAILED],
  {
    variants: { 'A01 grep': '403 forbidden' },
  },
);

/** Creates a temporary folder with one JSON file for each entry of `files` (file name to report). */
function folderOf(t: Test, files: Readonly<Record<string, unknown>> = { 'a.json': REPORT }): string {
  return t.testdir(Object.fromEntries(Object.entries(files).map(([name, value]) => [name, JSON.stringify(value)])));
}

t.test('one run writes several reports to files and prints one', async (t) => {
  const server = await startTestServer(minimal);
  t.teardown(() => server.close());
  const folder = t.testdir({});
  const files = ['json', 'junit', 'tap', 'markdown', 'html'].map(
    (name) => [name, join(folder, `report ${name}`)] as const,
  );
  const target = ['--base-url', server.baseUrl, '--org', 'demo', '--key', key, '--quiet'];
  const flags = files.flatMap(([name, file]) => ['--reporter', `${name}=${file}`]);
  const { code, out, err } = await call('run', ...target, '--only', 'other.meta', '--reporter', 'pretty', ...flags);
  t.same([code, err], [0, '']);
  t.match(out, /conforms in the checked rules/);
  const [json = '', junit = '', tap = '', markdown = '', html = ''] = files.map(([, file]) =>
    readFileSync(file, 'utf8'),
  );
  t.equal(JSON.parse(json).exit_code, 0);
  t.ok(new XMLParser().parse(junit).testsuites);
  t.match(tap, /^TAP version 14/);
  t.match(markdown, /^# Conformance of/);
  t.match(html, /^<!doctype html>/);
});

t.test('a printed command names the same target and contains no secret', async (t) => {
  const server = await startTestServer(minimal);
  t.teardown(() => server.close());
  process.env.EMULATOR_ADMIN_TOKEN = 'canary-admin';
  t.teardown(() => delete process.env.EMULATOR_ADMIN_TOKEN);
  const address = server.baseUrl.replace('http://', 'http://canary-user:canary-password@');
  const target = [
    '--base-url',
    address,
    '--git-url',
    address,
    '--org',
    'demo',
    '--key',
    key,
    '--no-write',
    '--repo',
    "o'app",
  ];
  const { code, out } = await call(
    'run',
    ...target,
    '--admin-token',
    'canary-flag',
    '--quiet',
    '--only',
    'repo.record',
  );
  t.equal(code, 1);
  t.notMatch(out, 'canary');
  const [, line = ''] = /^ {2}\$ (npx conformance run .*)$/m.exec(out) ?? [];
  const words = spawnSync('sh', ['-c', `npx() { printf '%s\\n' "$@"; }; ${line}`], { encoding: 'utf8' }).stdout.split(
    '\n',
  );
  const expected = [server.baseUrl, server.baseUrl, 'demo', key, "o'app", '--no-write'];
  for (const word of expected)
    t.ok(
      words.some((one) => one.replace(/\/$/, '') === word),
      word,
    );
  const again = await call(...words.slice(1, -1), '--quiet');
  t.equal(again.code, 1, 'it runs');
});

t.test('a report made from a result file equals that of the run', async (t) => {
  const folder = folderOf(t);
  const json = join(folder, 'a.json');
  const html = join(folder, 'a.html');
  t.match(await call('report', json), { code: 1, out: /does not conform/ }, 'with the exit code of the run');
  t.match(await call('report', json, '--reporter', `html=${html}`), { code: 1, out: '', err: '' });
  t.match(readFileSync(html, 'utf8'), 'jwt.alg.none');
  t.match(await call('report', json, '--reporter', 'html', '--output', html), { code: 1, out: '' });
});

t.test('contradictory report outputs are refused before any request', async (t) => {
  const folder = folderOf(t);
  const [json, file] = [join(folder, 'a.json'), join(folder, 'b')];
  const dir = join(folder, 'absent', 'x');
  const cases: readonly (readonly [flags: readonly string[], says: RegExp])[] = [
    [['--reporter', 'xml'], /^--reporter must be one of pretty, tap, json, junit, markdown, github, html, not "xml"$/],
    [['--reporter', 'xml=x'], /^--reporter must be one of/],
    [['--reporter', 'json='], /^--reporter must be NAME=FILE/],
    [['--reporter', 'tap', '--reporter', 'json'], /only one report can go to standard output/],
    [['--reporter', 'github', '--reporter', 'json'], /only one report can go to standard output/],
    [['--reporter', `tap=${file}`, '--reporter', `json=${folder}/./b`], /names one file twice/],
    [['--reporter', `tap=${file}`, '--output', file], /--output needs exactly one --reporter without a file/],
    [['--reporter', `tap=${dir}`], /^--reporter cannot be written: .*: no such folder/],
    [['--reporter', `tap=${folder}`], /^--reporter cannot be written: .*: it is a folder/],
    [['--reporter', `tap=${json}/x`], /^--reporter cannot be written: .*: a part of its path is not a folder/],
    [['--output', join(folder, 'x'.repeat(300))], /^--output cannot be written: .*: its name is too long/],
  ];
  for (const [flags, says] of cases) {
    const { code, out, err } = await call('report', json, ...flags);
    t.same([code, out], [2, ''], flags.join(' '));
    t.match(err.trimEnd(), says);
    t.match(err, /^[^\n]+\n$/);
  }
  t.same(readdirSync(folder), ['a.json'], 'nothing was written');
  const both = await call('report', json, '--reporter', 'pretty', '--reporter', 'github');
  t.match(both, { code: 1, out: /^::error title=jwt\.alg\.none::/m }, 'annotations stand among lines for people');
});

t.test('a report atomically replaces the previous one, follows a link, and keeps the file mode', async (t) => {
  const folder = folderOf(t);
  const [json, file, link] = ['a.json', 'report.xml', 'latest.xml'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(file, 'old');
  chmodSync(file, 0o600);
  symlinkSync('report.xml', link);
  const before = statSync(file).ino;
  t.match(await call('report', json, '--reporter', `junit=${link}`), { code: 1, err: '' });
  t.ok(lstatSync(link).isSymbolicLink());
  t.match(readFileSync(file, 'utf8'), /^<\?xml/);
  t.not(statSync(file).ino, before, 'it is another file');
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.same(readdirSync(folder).sort(), ['a.json', 'latest.xml', 'report.xml'], 'and nothing is left beside it');
});

t.test('a report that cannot be written results in exit code 4, and all other reports are kept', async (t) => {
  const folder = folderOf(t);
  const [json, html, tap] = ['a.json', 'a.html', 'a.tap'].map((name) => join(folder, name)) as [string, string, string];
  writeFileSync(html, 'old');
  // Limit the size of files to 2 KiB (`ulimit` counts blocks of 512 bytes). The TAP report is smaller than this limit,
  // and the HTML report is larger.
  const line = `ulimit -f 4; exec '${process.execPath}' '${script}' report '${json}' --reporter 'html=${html}' --reporter 'tap=${tap}'`;
  const { status, stderr } = spawnSync('sh', ['-c', line], { encoding: 'utf8' });
  t.equal(status, 4);
  t.match(stderr, /^\S+a\.html cannot be written: [^\n]+; the file was not changed\n$/);
  t.equal(readFileSync(html, 'utf8'), 'old');
  t.match(readFileSync(tap, 'utf8'), /^TAP/);
  t.same(readdirSync(folder).sort(), ['a.html', 'a.json', 'a.tap']);
});

t.test('annotations are printed, and the step summary is added to', async (t) => {
  const folder = folderOf(t);
  const summary = join(folder, 'summary.md');
  writeFileSync(summary, 'of an earlier step\n');
  process.env.GITHUB_STEP_SUMMARY = summary;
  t.teardown(() => delete process.env.GITHUB_STEP_SUMMARY);
  const { code, out } = await call('report', join(folder, 'a.json'), '--reporter', 'github');
  t.equal(code, 1);
  t.match(out, /^::error title=jwt\.alg\.none::MUST, Token header/);
  t.match(readFileSync(summary, 'utf8'), /^of an earlier step\n# Conformance of/);
  process.env.GITHUB_STEP_SUMMARY = join(folder, 'absent', 'summary.md');
  t.match(await call('report', join(folder, 'a.json'), '--reporter', 'github'), {
    code: 4,
    out: /^::error/,
    err: /^the step summary cannot be written: [^\n]+\n$/,
  });
});

t.test('a file that is not a result is exit code 2 and a sentence, for every command that reads results', async (t) => {
  const folder = t.testdir({
    'a.json': JSON.stringify(REPORT),
    'text.json': 'x',
    'later.json': '{"format":2}',
    'other.json': '{}',
    'deep.json': `{"format":1,"rules":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
  });
  const cases: readonly (readonly [name: string, says: RegExp])[] = [
    ['absent.json', /absent\.json cannot be read: no such file \(ENOENT\)$/],
    ['.', /cannot be read: it is a folder \(EISDIR\)$/],
    ['/dev/zero', /^\/dev\/zero cannot be read: it is larger than 1 MiB$/],
    ['deep.json', /deep\.json is nested deeper than 200 levels$/],
    ['text.json', /text\.json is not JSON$/],
    ['later.json', /later\.json has the format 2; this suite reads format 1$/],
    ['other.json', /other\.json is not a result of conformance run --reporter json$/],
  ];
  const right = join(folder, 'a.json');
  for (const [name, says] of cases) {
    const file = resolve(folder, name);
    const commands = [
      ['report', file],
      ['compare', file, right],
      ['compare', right, file],
      ['merge', right, file],
      ['token', '--key', key, '--rule', 'jwt.alg.none', '--result', file],
    ];
    for (const argv of commands) {
      const { code, out, err } = await call(...argv);
      t.same([code, out], [2, ''], argv.join(' '));
      t.match(err.trimEnd(), says);
    }
  }
});

t.test('compare shows the differences: exit code 0 without differences, 1 with', async (t) => {
  const changed = reportWith(
    [
      resultOf('fail', 'rule.pass', { reason: 'not any more' }),
      resultOf('observed', 'err.method', { observed: { outcome: '404', answers: 7 } }),
      resultOf('pass', 'rule.new'),
    ],
    { variants: { 'A01 grep': '401 unauthorized', 'A02 x': 'y' } },
  );
  const folder = folderOf(t, { 'a.json': REPORT, 'b.json': changed, 'c.json': { ...REPORT, milliseconds: 9 } });
  const [a, b, c] = ['a.json', 'b.json', 'c.json'].map((name) => join(folder, name)) as [string, string, string];
  t.match(await call('compare', a, c), { code: 0, out: /^No difference\.$/m });
  const { code, out } = await call('compare', a, b);
  t.equal(code, 1);
  for (const line of [
    'rule.pass: pass -> fail',
    'after: not any more',
    'jwt.alg.none: fail -> not there',
    'rule.new: not there -> pass',
    'A01 grep: 403 forbidden -> 401 unauthorized',
    'A02 x: not seen -> y',
    'err.method: outcome: 405 -> 404',
    '6 differences: verdicts 1, rules that only one of them has 2, variants 2, observed 1.',
  ]) {
    t.ok(out.includes(line), line);
  }
  const json = await call('compare', a, b, '--reporter', 'json');
  t.equal(json.code, 1);
  t.equal(JSON.parse(json.out).differences.length, 6);
  const page = join(folder, 'page.html');
  t.match(await call('compare', a, b, '--reporter', `html=${page}`), { code: 1, out: '' });
  t.match(readFileSync(page, 'utf8'), /<code>403 forbidden<\/code>/);
  t.match(await call('compare', a, b, '--reporter', 'html=/absent/x'), { code: 2 });
  t.match(await call('compare', a), { code: 2 });
});

t.test('token repeats the token of the request that decided a rule', async (t) => {
  const result = join(folderOf(t), 'a.json');
  const minted = await call('token', '--key', key, '--rule', 'jwt.alg.none', '--result', result);
  t.equal(minted.code, 0);
  const now = Date.now() / 1000;
  const claims = decodeJwt(minted.out.trim());
  t.match(claims, { iss: 'demo', repo: 'app', scopes: ['git:read'] });
  t.ok(Math.abs(Number(claims.exp) - now - 60) < 30, 'its times are counted from now');
  t.match(minted.out, /\.\n$/, 'without a signature');
  const other = await call('token', '--key', key, '--org', 'acme', '--rule', 'jwt.alg.none', '--result', result);
  t.match(decodeJwt(other.out.trim()), { iss: 'acme' });
  const plain = await call('token', '--key', key, '--org', 'acme', '--rule', 'jwt.alg.none');
  t.match(plain, { code: 0, err: /^without --result this is an ordinary token/ });
  const cases: readonly (readonly [argv: readonly string[], says: RegExp])[] = [
    [['--rule', 'nonsense', '--org', 'a'], /^unknown rule nonsense/],
    [['--result', result], /^--result has no effect without --rule/],
    [['--rule', 'grep.route', '--result', result], /has no rule grep\.route/],
    [['--rule', 'err.method', '--result', result], /has no token of err\.method: its verdict is observed/],
    [[], /^--org is required/],
  ];
  for (const [argv, says] of cases) {
    const { code, out, err } = await call('token', '--key', key, ...argv);
    t.same([code, out], [2, ''], argv.join(' '));
    t.match(err, says);
  }
});
