import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { startEmulator } from '../index.js';
import { ended, spawnCli } from '../test/cli-process.js';
import { hasGit } from '../test/git/git-upstream.js';

// needs: git

async function stage(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), 'transfer-'));
  const emulator = await startEmulator({ port: 0, clock: '2026-01-01T00:00:00Z', org: ['demo', 'other'] });
  t.teardown(async () => {
    await emulator.close({ graceMs: 0 });
    rmSync(folder, { recursive: true, force: true });
  });
  const cli = async (...argv: string[]) => {
    const child = spawnCli(t, [...argv, `--url=${emulator.baseUrl}`]);
    const [code] = await ended(child);
    return { code, ...child.said };
  };
  return { folder, emulator, cli };
}

t.test('repositories are added, pushed to, listed and removed', async (t) => {
  const { folder, emulator, cli } = await stage(t);
  const files = join(folder, 'site');
  mkdirSync(files);
  writeFileSync(join(files, 'a'), 'one');
  t.match(await cli('repo', 'add', 'empty', '--default-branch=trunk'), { code: 0, out: 'empty\n', err: '' });
  t.match(await cli('repo', 'add', 'empty'), { code: 2, err: /already/ });
  t.match(await cli('repo', 'add', '../x'), { code: 2, err: /has a segment between slashes that is empty/ });
  const { commit } = await emulator.repository('expected').seed({ a: 'one' });
  t.match(
    await cli('repo', 'push', files),
    { code: 0, out: `site ${commit}\n`, err: '' },
    'at the time of the emulator',
  );
  writeFileSync(join(files, 'b'), 'two');
  const pushed = await cli('repo', 'push', files, 'site', '--json');
  t.match(JSON.parse(pushed.out), { name: 'site', is_new: false, default_branch: 'main' });
  const listed = JSON.parse((await cli('repo', 'ls', '--json')).out) as { name: string; default_branch: string }[];
  t.match(listed, [
    { name: 'empty', default_branch: 'trunk' },
    { name: 'expected' },
    { name: 'site', head: JSON.parse(pushed.out).commit, refs: 1, objects: 6 },
  ]);
  t.match(await cli('repo', 'rm', 'site'), { code: 0, out: '', err: '' });
  t.match(await cli('repo', 'rm', 'site'), { code: 2, err: /The repository "site" does not exist/ });
  t.match(await cli('repo', 'push', files, 'of-other', '--org=other'), { code: 0 });
  t.match((await cli('repo', 'ls', '--org=other')).out, /of-other +active/);
  symlinkSync('site', join(folder, 'link'));
  t.match(await cli('repo', 'push', join(folder, 'link')), { code: 2, err: /symbolic link/ });
});

t.test('an export is imported again, also at the start', { skip: !hasGit }, async (t) => {
  const { folder, emulator, cli } = await stage(t);
  const { commit } = await emulator.repository('team/app').seed({ a: 'one' });
  await emulator.repository('x', { org: 'other' }).seed({ b: 'two' });
  const out = join(folder, 'out');
  t.match(await cli('export', out), { code: 0, out: '', err: '' });
  t.equal(statSync(out).mode & 0o777, 0o700);
  t.equal(
    execFileSync('git', ['rev-parse', 'HEAD'], { cwd: join(out, 'demo/team/app.git') })
      .toString()
      .trim(),
    commit,
  );
  await emulator.reset();
  t.match(await cli('import', out), { code: 0, out: '2 repositories\n' });
  execFileSync('git', ['clone', '-q', '--bare', join(out, 'demo/team/app.git'), join(folder, 'bare.git')], {
    stdio: 'ignore',
  });
  execFileSync('git', ['bundle', 'create', '-q', join(folder, 'all.bundle'), '--all'], {
    cwd: join(folder, 'bare.git'),
  });
  execFileSync('tar', ['-cf', join(folder, 'out.tar'), '-C', out, '.']);
  t.match(await cli('import', join(folder, 'bare.git')), { code: 0, out: `bare ${commit}\n` });
  t.match(await cli('import', join(folder, 'all.bundle'), '--repo=named'), { code: 0, out: `named ${commit}\n` });
  t.match(await cli('import', join(folder, 'out.tar')), { code: 0, out: '2 repositories\n' });
  t.match(await cli('import', out, '--repo=x'), { code: 2, err: /cannot be imported as one repository/ });
  for (const [path, name] of [
    [out, 'team/app'],
    [join(folder, 'out.tar'), 'team/app'],
    [join(folder, 'bare.git'), 'bare'],
    [join(folder, 'all.bundle'), 'all'],
  ] as const) {
    const other = await startEmulator({ port: 0, org: ['demo', 'other'], import: path });
    t.match(await other.repository(name).seed({ a: 'one' }), { commit, isNew: false }, path);
    await other.close({ graceMs: 0 });
  }
  await using adopted = await startEmulator({ port: 0, import: out });
  t.same(
    adopted.orgs.map(({ org }) => org),
    ['demo', 'other'],
    'with its organizations',
  );
  await t.rejects(
    startEmulator({ port: 0, import: join(folder, 'none') }),
    /cannot be read \(no such file or directory\)/,
  );
});

t.test('a killed export leaves the previous or the new export complete', async (t) => {
  const { folder, emulator, cli } = await stage(t);
  const out = join(folder, 'out');
  const fill = async (round: number) => {
    for (let index = 0; index < 12; index++)
      await emulator.repository(`r${index}`).seed({ a: `round ${round}`, b: String(index) });
  };
  const rounds = async (from: string) => {
    const other = await startEmulator({ port: 0, org: ['demo', 'other'], import: from });
    const read = async (name: string) => {
      const headers = { authorization: `Bearer ${await other.token({ repo: name })}` };
      return (await fetch(`${other.baseUrl}/api/v1/repos/file?path=a`, { headers })).text();
    };
    const texts = await Promise.all(Array.from({ length: 12 }, (_, index) => read(`r${index}`)));
    await other.close({ graceMs: 0 });
    return [...new Set(texts)];
  };
  const kill = async (after: number) => {
    const child = spawnCli(t, ['export', out, `--url=${emulator.baseUrl}`]);
    await Promise.race([pause(after), once(child, 'close')]);
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
  };
  await fill(0);
  await kill(300);
  if (existsSync(out)) t.same(await rounds(out), ['round 0']);
  t.match(await cli('export', out), { code: 0 });
  t.same(readdirSync(folder), ['out'], 'drafts of those that were killed are gone');
  for (let round = 1; round <= 2; round++) {
    await fill(round);
    const [before] = await rounds(out);
    await kill(250 + round * 90);
    const copy = join(folder, 'copy');
    cpSync(out, copy, { recursive: true });
    const found = await rounds(copy);
    t.ok(found.length === 1 && (found[0] === before || found[0] === `round ${round}`), `${found} after ${before}`);
    rmSync(copy, { recursive: true });
  }
});
