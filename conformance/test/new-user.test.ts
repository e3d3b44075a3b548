import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { parse, stringify } from 'yaml';
import { type Report, startTargetEmulator } from '../index.js';
import { REPORTERS } from '../report/reporters.js';
import { CALIBRATION_RULES } from '../run/probe.js';
import { packageRoot } from '../run/version.js';
import { conformance, startDeployment, writesOf } from './deployment.js';

const deployment = await startDeployment(t);
const { baseUrl, target, asked, state, create, repositories } = deployment;
const folder = t.testdir({});
const file = (name: string) => join(folder, name);
const flags = ['--base-url', baseUrl, '--org', target.org, '--key', target.key.file, '--rate', 'unlimited'];
const described = ['--target', file('target.yaml'), '--rate', 'unlimited', '--quiet'];
const readReport = (name: string): Report => JSON.parse(readFileSync(file(name), 'utf8'));
const verdictsOf = ({ rules }: Report) => rules.map(({ id, verdict }) => `${id} ${verdict}`);

t.test('probe only reads from the target and writes a target file', async (t) => {
  const { code, err } = await conformance('probe', ...flags, '--output', file('target.yaml'));
  t.same([code, err], [0, '']);
  t.same(writesOf(asked), [], 'nothing was asked that writes');
  t.ok(asked.length < 250, `${asked.length} requests are few`);
  const text = readFileSync(file('target.yaml'), 'utf8');
  t.match(parse(text), { base_url: baseUrl, org: 'demo', repo: 'docs', write: undefined, rate: undefined });
  t.match(text, /^# default branch: main$/m);
  t.match(text, /^# it responds, and docs can be fetched$/m);
  t.match(text, /^# - GET \/api\/repos\/\{name\}\/tags: exists$/m);
  t.match(text, /restricted: .*not given/);
  t.notMatch(text, /PRIVATE KEY|eyJ/);
  t.match(await conformance('probe', ...flags, '--output', file('target.yaml')), {
    code: 2,
    err: /target\.yaml already exists; --force overwrites it\n$/,
  });
  t.match(await conformance('probe', ...described.slice(0, 4), '--force', '--output', file('target.yaml')), {
    code: 0,
  });
  t.same(parse(readFileSync(file('target.yaml'), 'utf8')), parse(text), 'a file that was found is found again');
});

t.test('probe determines everything that a read-only run determines', async (t) => {
  const { code } = await conformance('run', ...described, '--reporter', `json=${file('reading.json')}`);
  t.equal(code, 0);
  const { variants, mode } = readReport('reading.json');
  t.equal(mode.write, false, 'loopback is no leave to write');
  t.same(writesOf(asked), []);
  t.same(await repositories(), ['docs']);
  const whole = ['--force', '--all', '--output', file('all.yaml')];
  t.match(await conformance('probe', ...flags, ...whole), { code: 0 });
  const told = parse(readFileSync(file('all.yaml'), 'utf8')).variants;
  t.same(Object.keys(told).sort(), Object.keys(variants).sort(), `CALIBRATION_RULES: ${CALIBRATION_RULES.length}`);
});

t.test('probe writes only variants that differ from the default', async (t) => {
  t.same(parse(readFileSync(file('target.yaml'), 'utf8')).variants, {}, 'the emulator has only defaults');
  const other = file('variants.json');
  writeFileSync(other, JSON.stringify({ emptyBearer: '403' }));
  const unusual = await startTargetEmulator('--variants', other);
  t.teardown(() => unusual.close());
  const place = ['--base-url', unusual.target.baseUrl, '--org', 'demo', '--key', unusual.target.key.file];
  const { code, out } = await conformance('probe', ...place);
  t.equal(code, 0);
  t.same(parse(out).variants, { 'A31 empty bearer': '403 forbidden' });
  t.match(out, /^# \d+ more choices are the default and can change; --all writes them too$/m);
});

t.test('a response that differs from the recorded one fails', async (t) => {
  const written = parse(readFileSync(file('target.yaml'), 'utf8'));
  const variants = { ...written.variants, 'A31 empty bearer': '403' };
  writeFileSync(file('pinned.yaml'), stringify({ ...written, variants }));
  const only = ['--only', 'authfail.401.empty-bearer', '--rate', 'unlimited'];
  t.match(await conformance('run', '--target', file('pinned.yaml'), ...only), {
    code: 1,
    out: /A31 empty bearer: must be what the target file says\n.*expected 403/,
  });
});

t.test('a run with permission to write uses only its prefix and deletes everything', async (t) => {
  asked.length = 0;
  const journal = ['--journal', file('scratch.ndjson')];
  const only = ['--only', 'pack', '--prefix', 'team-a', '--write'];
  const { code } = await conformance('run', ...described, ...journal, ...only);
  t.equal(code, 0);
  t.ok(asked.some((one) => one.startsWith('DELETE /api/repos/team-a-')));
  t.same(
    asked.filter((one) => /^DELETE (?!\/api\/repos\/team-a-[0-9a-f]{8})/.test(one)),
    [],
  );
  t.same(await repositories(), ['docs']);
  t.notOk(existsSync(file('scratch.ndjson')));
});

t.test('a baseline keeps known failures from failing the run, until they are gone or it expires', async (t) => {
  state.isBroken = true;
  t.teardown(() => {
    state.isBroken = false;
  });
  const only = ['--only', 'other.*'];
  const json = ['--reporter', `json=${file('broken.json')}`];
  t.match(await conformance('run', ...described, ...only, ...json), { code: 1 });
  const broken = readReport('broken.json').rules.filter(({ verdict }) => verdict === 'fail');
  t.ok(broken.length > 0);
  for (const { curl = '' } of broken) {
    if (curl.includes('conformance token')) t.match(curl, `--target ${file('target.yaml')} --org demo`);
  }
  t.same(readReport('broken.json').mode.flags?.slice(0, 2), described.slice(0, 2));
  const made = ['baseline', file('broken.json'), '--reason', 'ticket 7', '--expires', '2999-01-01'];
  t.match(await conformance(...made, '--output', file('baseline.yaml')), { code: 0, err: '' });
  t.match(await conformance(...made, '--output', file('baseline.yaml')), { code: 2, err: /already exists/ });
  const known = parse(readFileSync(file('baseline.yaml'), 'utf8'));
  t.same(Object.keys(known.rules).sort(), broken.map(({ id }) => id).sort());
  const held = [...described, ...only, '--baseline', file('baseline.yaml')];
  for (const reporter of REPORTERS) {
    const { code, out } = await conformance('run', ...held, '--reporter', reporter);
    t.equal(code, 0, reporter);
    t.match(out, 'ticket 7', reporter);
    t.match(out, '2999-01-01', reporter);
  }
  t.match(await conformance('run', ...held), {
    code: 0,
    out: /conforms in the checked rules but for \d+ expected failure/,
  });
  const other = ['--only', 'authfail.401.empty-bearer', '--baseline', file('baseline.yaml')];
  t.match(await conformance('run', ...described, ...other), {
    code: 0,
    out: /Not checked, although in the baseline: /,
  });
  const [first = ''] = Object.keys(known.rules);
  const expired = { ...known, rules: { ...known.rules, [first]: { reason: 'old', expires: '2020-01-31' } } };
  writeFileSync(file('expired.yaml'), stringify(expired));
  t.match(await conformance('run', ...described, ...only, '--baseline', file('expired.yaml')), {
    code: 1,
    out: /was expected to be broken only until 2020-01-31 \(old\)/,
  });
  state.isBroken = false;
  const gone = await conformance('run', ...held);
  t.match(gone, { code: 1, out: /the verdict is pass; remove it from the baseline \(ticket 7\)/ });
});

t.test('an invalid baseline is rejected', async (t) => {
  const entry = { reason: 'x', expires: '2999-01-01' };
  for (const [baseline, line] of [
    [{ format: 2, rules: {} }, /has the format 2; this suite reads format 1/],
    [{ rules: {} }, / lacks format/],
    [{ format: 1, rules: { nonsense: entry } }, /expects a failure of the unknown rule nonsense/],
    [{ format: 1, rules: { 'jwt.alg.none': { reason: 'x' } } }, /lacks rules\.jwt\.alg\.none\.expires/],
    [{ format: 1, rules: { 'jwt.alg.none': { ...entry, expires: '2026-02-30' } } }, /expires must be a date/],
    [{ format: 1, rules: { 'jwt.alg.none': { ...entry, reason: ' ' } } }, /reason must be a non-empty reason/],
    [{ format: 1, rules: { 'jwt.alg.none': { ...entry, verdict: 'pass' } } }, /verdict must be one of fail, flaky/],
    [{ format: 1, rules: { 'jwt.alg.none': { ...entry, until: 1 } } }, /unknown member: rules\.jwt\.alg\.none\.until/],
    [[], /must be an object with members/],
  ] as const) {
    writeFileSync(file('wrong.yaml'), stringify(baseline));
    const { code, err } = await conformance('run', '--baseline', file('wrong.yaml'));
    t.equal(code, 2);
    t.match(err, line);
    t.match(err, /^--baseline: \S*wrong\.yaml [^\n]+\n$/);
  }
});

t.test('all shards together equal the full run', async (t) => {
  const only = ['--only', 'other.*,err.*,commit.*'];
  const part = (name: string, ...more: string[]) =>
    conformance('run', ...described, ...only, ...more, '--reporter', `json=${file(name)}`);
  await part('whole.json');
  for (const index of [1, 2]) await part(`${index}.json`, '--shard', `${index}/2`);
  await part('other.json', '--shard', '2/2', '--strict');
  const merged = ['merge', file('1.json'), file('2.json'), '--reporter', `json=${file('merged.json')}`];
  t.match(await conformance(...merged), { code: 0, err: '' });
  t.same(verdictsOf(readReport('merged.json')), verdictsOf(readReport('whole.json')));
  t.same(readReport('merged.json').variants, readReport('whole.json').variants);
  for (const [files, line] of [
    [['1.json'], /shard 2\/2 is given 0 times/],
    [['1.json', '1.json', '2.json'], /shard 1\/2 is given 2 times/],
    [['1.json', 'other.json'], /the option --strict differs/],
    [['whole.json'], /is of a complete run/],
    [['target.yaml'], /is not JSON/],
    [['absent.json'], /no such file/],
  ] as const) {
    const { code, out, err } = await conformance('merge', ...files.map(file));
    t.same([code, out], [2, ''], files.join());
    t.match(err, line);
  }
});

t.test('gc deletes only the repositories of a killed run', async (t) => {
  const journal = file('killed.ndjson');
  await create('cf-00000000/theirs');
  const argv = ['run', ...described, '--write', '--journal', journal];
  const run = spawn(process.execPath, [join(packageRoot(), 'bin', 'conformance.js'), ...argv], { stdio: 'ignore' });
  const ended = once(run, 'exit');
  const entries = () => (existsSync(journal) ? readFileSync(journal, 'utf8').trim().split('\n') : []);
  while (entries().length < 5) await sleep(20);
  t.match(await conformance('gc', '--journal', journal), { code: 0, out: /^kept cf-\S+: process \d+ still uses it$/m });
  run.kill('SIGKILL');
  await ended;
  const left = await repositories();
  t.ok(left.length > 3, 'it left something');
  const names = entries().map((line) => JSON.parse(line).name);
  t.notMatch(entries().join(), /PRIVATE KEY|eyJ/);
  asked.length = 0;
  const dry = await conformance('gc', '--journal', journal, '--dry-run');
  t.match(dry, { code: 0, err: '' });
  for (const name of names) t.match(dry.out, `would remove ${name} of demo at ${baseUrl}\n`);
  t.same(asked, [], 'nothing is asked');
  const { code, out } = await conformance('gc', '--journal', journal);
  t.equal(code, 0, out);
  for (const name of names) t.match(out, `removed ${name}\n`);
  t.same(await repositories(), ['cf-00000000/theirs', 'docs']);
  t.notOk(existsSync(journal));
  t.match(await conformance('gc', '--journal', journal), { code: 2, err: /^--journal: .*no such file/ });
  process.env.XDG_STATE_HOME = folder;
  t.teardown(() => delete process.env.XDG_STATE_HOME);
  t.match(await conformance('gc'), { code: 0, out: 'nothing is left\n' });
});

t.test('gc lists what it cannot remove', async (t) => {
  const journal = file('left.ndjson');
  const entry = { base_url: baseUrl, org: 'demo', name: 'cf-12345678/n1', time: '2026-01-01T00:00:00Z' };
  const targetFlags = ['--target', file('target.yaml')];
  const rows = [
    { ...entry, flags: targetFlags },
    { ...entry, name: 'docs', flags: [...targetFlags, '--companion'] },
    { ...entry, name: 'cf-12345678/n2' },
    {
      ...entry,
      base_url: 'http://127.0.0.1:1',
      flags: ['--base-url', 'http://127.0.0.1:1', '--org', 'demo', '--key', target.key.file],
    },
  ];
  const gc = async (...some: readonly object[]) => {
    writeFileSync(journal, some.map((row) => `${JSON.stringify(row)}\n`).join(''));
    return conformance('gc', '--journal', journal);
  };
  state.deletion = () => [405];
  t.match(await gc(...rows.slice(0, 1)), { code: 1, out: /^left cf-12345678\/n1: DELETE .* returned 405$/m });
  delete state.deletion;
  t.match(await gc(...rows.slice(1, 2)), { code: 1, out: /^left docs: the name is not one that a run uses/ });
  t.match(await gc(...rows.slice(2, 3)), { code: 1, out: /^left cf-12345678\/n2: its target is unknown/ });
  t.match(await gc(...rows.slice(3)), { code: 3, out: /^left cf-12345678\/n1: http:\/\/127.0.0.1:1 does not answer/ });
  t.equal(readFileSync(journal, 'utf8').trim().split('\n').length, 1, 'what is left stays in the journal');
  writeFileSync(journal, 'nonsense\n');
  t.match(await conformance('gc', '--journal', journal), { code: 2, err: /left\.ndjson:1 is not an entry/ });
});

t.test('a journal that cannot be written is an error that names the option', async (t) => {
  const journal = ['--write', '--journal', '/dev/null/journal'];
  t.match(await conformance('run', ...described, ...journal, '--only', 'other.*'), {
    code: 2,
    err: /^--journal: the scratch/,
  });
  process.env.XDG_STATE_HOME = '/dev/null';
  t.teardown(() => delete process.env.XDG_STATE_HOME);
  t.match(await conformance('run', ...described, '--write', '--only', 'other.*'), {
    code: 0,
    err: /gc cannot find its repositories; use --journal FILE\n/,
  });
});

t.test('tokens are made with the keys of a target file', async (t) => {
  const token = async (...more: string[]) => {
    const { code, out, err } = await conformance('token', '--target', file('target.yaml'), ...more);
    if (code !== 0) return err;
    return JSON.parse(Buffer.from(out.split('.')[1] ?? '', 'base64url').toString());
  };
  t.match(await token('--repo', 'docs'), { iss: 'demo', repo: 'docs' });
  t.match(await token('--org', 'other'), { iss: 'other' });
  t.match(await token('--role', 'ES256'), { iss: 'demo' });
  t.match(await token('--role', 'restricted'), /target\.yaml has no restricted key\n$/);
  t.match(await token('--role', 'nonsense'), /^--role must be one of main, restricted/);
  t.match(await token('--key', target.key.file), { iss: 'demo' });
});
