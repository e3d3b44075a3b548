import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { startEmulator } from '../index.js';
import { SourceError } from '../sources/file-tree.js';
import { ended, spawnCli, untilReady } from '../test/cli-process.js';
import { WebhookReceiver } from '../test/operations/webhook-receiver.js';
import { saveState } from './state-directory.js';
import type { TarEntry } from './tar.js';
import { fileOf } from './write-state.js';

// needs: git

function scratch(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'persist-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const ask = (url: string, method: string, path: string, body?: object) =>
  fetch(`${url}/_emulator${path}`, {
    method,
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });

async function names(url: string): Promise<string[]> {
  const { items } = (await (await ask(url, 'GET', '/repositories?limit=1000')).json()) as {
    items: { name: string; state: string }[];
  };
  return items.filter(({ state }) => state !== 'deleted').map(({ name }) => name);
}

t.test('the saved state is loaded again, and only one process uses the folder', async (t) => {
  const folder = join(scratch(t), 'kept');
  const options = { port: 0, persist: folder, log: 'quiet' } as const;
  const warnings: string[] = [];
  const one = await startEmulator(options, { onWarning: (sentence) => warnings.push(sentence) });
  t.teardown(() => one.close({ graceMs: 0 }));
  const made = await one.repository('team/app').seed({ a: 'one' });
  await t.rejects(startEmulator(options), /is in use by another emulator \(process/);
  while (!readFileSync(join(folder, 'emulator.json'), 'utf8').includes('team/app')) await pause(20);
  t.equal(statSync(folder).mode & 0o777, 0o700);
  for (const path of readdirSync(folder, { recursive: true, withFileTypes: true }))
    t.equal(statSync(join(path.parentPath, path.name)).mode & 0o777, path.isDirectory() ? 0o700 : 0o600, path.name);
  const more = await one.repository('team/app').seed({ a: 'two' });
  await one.close();
  t.notOk(existsSync(join(folder, 'lock')));
  t.equal(
    execFileSync('git', ['-C', join(folder, 'demo/team/app.git'), 'rev-parse', 'main', 'main~1']).toString(),
    `${more.commit}\n${made.commit}\n`,
  );
  const two = await startEmulator(options);
  t.teardown(() => two.close({ graceMs: 0 }));
  t.same(await names(two.baseUrl), ['team/app']);
  t.match(await two.repository('team/app').seed({ a: 'two' }), { commit: more.commit, isNew: false });
  await two.repository('other').seed({ b: '1' });
  await two.reset();
  t.same(await names(two.baseUrl), ['team/app'], 'reset goes back to what it began with');
  await two.close();
  const three = await startEmulator({ ...options, import: folder, persist: join(folder, '../new') });
  t.same(await names(three.baseUrl), ['team/app']);
  await three.close();
  t.same(warnings, []);
});

t.test('a folder with other content is not changed', async (t) => {
  const folder = scratch(t);
  writeFileSync(join(folder, 'mine.txt'), 'x');
  await t.rejects(startEmulator({ port: 0, persist: folder }), /is not empty and contains no export/);
  t.same(readdirSync(folder), ['mine.txt']);
  rmSync(join(folder, 'mine.txt'));
  writeFileSync(join(folder, 'emulator.json'), '{"format":"repohost-emulator","version":2}');
  await t.rejects(startEmulator({ port: 0, persist: folder }), /contains an export of version/);
  await t.rejects(startEmulator({ port: 0, import: folder }), /format version 2/);
  t.same(readdirSync(folder), ['emulator.json']);
  const child = spawnCli(t, ['start', '--port=0', `--persist=${folder}`]);
  t.same(await ended(child), [2, null]);
  t.match(child.said.err, /^[^\n]*version[^\n]*\n$/);
});

t.test('the lock of a killed process is ignored', async (t) => {
  const folder = join(scratch(t), 'kept');
  const child = spawnCli(t, ['start', '--port=0', '--log=quiet', `--persist=${folder}`]);
  await untilReady(child);
  const other = spawnCli(t, ['start', '--port=0', `--persist=${folder}`]);
  t.same(await ended(other), [2, null]);
  t.match(other.said.err, `is in use by another emulator (process ${child.pid})`);
  child.kill('SIGKILL');
  await once(child, 'close');
  t.ok(existsSync(join(folder, 'lock')));
  const emulator = await startEmulator({ port: 0, persist: folder });
  await emulator.close();
});

t.test('a process killed at any time leaves the previous or the new state', async (t) => {
  const folder = join(scratch(t), 'kept');
  let last = 0;
  for (let round = 0; round < 4; round++) {
    const child = spawnCli(t, ['start', '--port=0', '--log=quiet', `--persist=${folder}`]);
    const { base_url: url } = await untilReady(child);
    const before = (await names(url)).length;
    t.ok(before >= last, `${before} of at least ${last}`);
    last = before;
    for (let made = 0; made < 3 + round * 4; made++)
      await ask(url, 'POST', '/repositories', { name: `r${before + made}` });
    await pause(110 + round * 7);
    child.kill('SIGKILL');
    await once(child, 'close');
    const copy = `${folder}-${round}`;
    cpSync(folder, copy, { recursive: true, filter: (path) => !path.endsWith('/lock') });
    const emulator = await startEmulator({ port: 0, import: copy });
    const after = await names(emulator.baseUrl);
    t.same(
      after,
      after.map((_, index) => `r${index}`),
      'a state that was',
    );
    await emulator.close();
  }
});

/** Yields the files of a small exported state. It contains one repository with a pack file of `size` bytes. */
async function* state(name: string, size = 10): AsyncGenerator<TarEntry> {
  yield fileOf(`demo/r.git/objects/pack/pack-${name}.pack`, Buffer.alloc(size, name));
  yield fileOf('demo/r.git/HEAD', name);
  yield fileOf('emulator.json', JSON.stringify({ format: 'repohost-emulator', version: 1, name }));
}

const PACKS = 'demo/r.git/objects/pack';

t.test('a save that fails at any file leaves the previous state', async (t) => {
  const folder = join(scratch(t), 'kept');
  await saveState(folder, state('a'));
  const shown = () => [
    readFileSync(join(folder, 'emulator.json'), 'utf8'),
    readFileSync(join(folder, 'demo/r.git/HEAD'), 'utf8'),
    readFileSync(join(folder, PACKS, 'pack-a.pack'), 'utf8'),
  ];
  const before = shown();
  for (let at = 0; at < 4; at++) {
    const torn = async function* () {
      let left = at;
      for await (const file of state('b')) {
        if (left-- === 0) throw Object.assign(new Error('no space'), { code: 'ENOSPC', syscall: 'write' });
        yield file;
      }
      throw Object.assign(new Error('no space'), { code: 'ENOSPC', syscall: 'write' });
    };
    await t.rejects(saveState(folder, torn()), { message: /the disk is full\. Its previous content was kept/ });
    t.same(shown(), before, `after ${at} files`);
  }
  await t.rejects(saveState(join(folder, '../fresh'), (async function* () {})()), SourceError);
  t.notOk(existsSync(join(folder, '../fresh')));
  await saveState(folder, state('c'));
  t.same(readdirSync(join(folder, PACKS)), ['pack-c.pack'], 'what is not named any more has gone');
  t.same(readdirSync(join(folder, 'demo/r.git')).sort(), ['HEAD', 'objects']);
});

t.test('a full disk', async (t) => {
  const mount = join(scratch(t), 'small');
  mkdirSync(mount);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', mount], { stdio: 'ignore' });
  } catch {
    t.comment('no file system can be mounted');
    return;
  }
  t.teardown(() => execFileSync('umount', ['-l', mount]));
  const warnings: string[] = [];
  const folder = join(mount, 'kept');
  const emulator = await startEmulator(
    { port: 0, persist: folder },
    { onWarning: (sentence) => warnings.push(sentence) },
  );
  await emulator.repository('small').seed({ a: 'x' });
  while (!existsSync(join(folder, 'demo/small.git/HEAD'))) await pause(20);
  await emulator.repository('large').seed({ noise: randomBytes(600_000) });
  while (warnings.length === 0) await pause(20);
  t.match(warnings, [/the disk is full/]);
  await emulator.close();
  const again = await startEmulator({ port: 0, persist: folder });
  t.same(await names(again.baseUrl), ['small'], 'the last good state');
  await again.close();
});

t.test('loading a state restores organizations and pending deliveries, and reports progress', async (t) => {
  const folder = scratch(t);
  await using receiver = await WebhookReceiver.start();
  receiver.status = () => 500;
  const one = await startEmulator({
    port: 0,
    org: ['acme', 'demo', 'other'],
    clock: '2026-01-01T00:00:00Z',
    persist: join(folder, 'kept'),
  });
  t.teardown(() => one.close({ graceMs: 0 }));
  await one.repository('team/app', { org: 'other' }).seed({ a: 'one' });
  const token = await one.token({ repo: 'r', scopes: ['repo:write', 'git:write', 'git:read'] });
  const post = (path: string, body: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    return fetch(`${one.baseUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  };
  t.equal(
    (await post('/api/v1/webhooks', { url: receiver.url, events: ['push'], secret: 'whsec_0123456789abcdef' })).status,
    201,
  );
  await post('/api/repos', {});
  await one.repository('r').seed({ a: 'one' });
  await post('/api/v1/repos/branches/create', { base_ref: 'main', target_branch: 'next' });
  await receiver.until(2);
  while (!(await (await ask(one.baseUrl, 'GET', '/webhooks/outbox')).text()).match(/"status":500.*"status":500/))
    await pause(5);
  await one.close();
  // Let webhook deliveries succeed. Then start emulators with the saved state, one of them with another default
  // organization.
  receiver.status = () => 200;
  const told: number[][] = [];
  for (const options of [
    { persist: join(folder, 'kept') },
    { import: join(folder, 'kept') },
    { import: join(folder, 'kept'), org: ['new', 'other'] },
  ]) {
    const ports = { onImport: (bytes: number, total: number) => told.push([bytes, total]) };
    await using two = await startEmulator({ port: 0, log: 'quiet', ...options }, ports);
    const orgs = options.org ? ['new', 'other', 'acme', 'demo'] : ['acme', 'demo', 'other'];
    t.same(
      two.orgs.map(({ org }) => org),
      orgs,
    );
    t.ok((await two.repository('team/app', { org: 'other' }).seed({ a: 'two' })).commit);
    if (options.persist === undefined) continue;
    await two.clock.advance(60_000);
    const bodies = (await receiver.until(4)).map(({ body }) => body.toString());
    t.same(bodies.slice(2).toSorted(), bodies.slice(0, 2).toSorted(), 'what waited was sent');
  }
  t.ok(told.length > 0 && told.every(([, total]) => total! > 1000));
});
