import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type Outcome, Workbench } from '../git/test/workbench.js';
import { type Service, startService } from '../test/service.js';

// Tests the emulator's LFS routes with the real git-lfs program.

const bench = await Workbench.create();
t.teardown(() => bench[Symbol.asyncDispose]());
const probe = await bench.try('.', 'lfs', 'version').catch((error: Error) => ({ status: -1, stderr: error.message }));
const skip = probe.status === 0 ? false : `git-lfs is not on this machine: ${probe.stderr.trim()}`;

async function stage(t: Test): Promise<Service> {
  const service = await startService();
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  await service.call('POST', '/api/repos');
  return service;
}

const oidOf = (content: Buffer) => createHash('sha256').update(content).digest('hex');

/** Creates a work tree in which git-lfs tracks `*.bin`, and commits `files`. */
async function track(folder: string, files: Readonly<Record<string, Buffer>>): Promise<void> {
  await bench.git('.', 'init', '-q', '-b', 'main', folder);
  await bench.git(folder, 'lfs', 'install', '--local');
  await bench.git(folder, 'lfs', 'track', '*.bin');
  await commit(folder, files);
}

async function commit(folder: string, files: Readonly<Record<string, Buffer>>): Promise<void> {
  await mkdir(join(bench.path, folder, 'many'), { recursive: true });
  for (const [path, content] of Object.entries(files)) await writeFile(join(bench.path, folder, path), content);
  await bench.git(folder, 'add', '.');
  await bench.git(folder, 'commit', '-q', '-m', 'Files');
}

/**
 * Clones the repository at `url` into `folder`. Enables git-lfs before the first checkout, so that it downloads LFS
 * objects.
 */
async function clone(url: string, folder: string): Promise<Outcome> {
  await bench.git('.', '-c', 'init.templateDir=', 'init', '-q', '-b', 'main', folder);
  await bench.git(folder, 'lfs', 'install', '--local');
  await bench.git(folder, 'remote', 'add', 'origin', url);
  return bench.try(folder, 'pull', '-q', 'origin', 'main');
}

const read = (folder: string, path: string) => readFile(join(bench.path, folder, path));

t.test('track, push, clone, pull; also a large object and many small ones', { skip }, async (t) => {
  const service = await stage(t);
  const large = randomBytes(20 * 1024 * 1024);
  const many = Object.fromEntries(
    Array.from({ length: 120 }, (_, at) => [`many/${at}.bin`, Buffer.from(`file ${at}`)]),
  );
  await track('work', { 'large.bin': large, 'empty.bin': Buffer.alloc(0), ...many });
  const remote = await service.remote('team/app');
  const pushed = await bench.try('work', 'push', remote, 'main');
  t.equal(pushed.status, 0, pushed.stderr);
  t.equal(service.world.state.repositories.find('demo', 'team/app')!.record.lfsObjects!.size, 121);
  t.notMatch(pushed.stderr, /error|not support/i);

  const cloned = await clone(remote, 'clone');
  t.equal(cloned.status, 0, cloned.stderr);
  t.ok(large.equals(await read('clone', 'large.bin')), 'the large object, byte for byte');
  for (const [path, content] of Object.entries(many)) {
    if (!content.equals(await read('clone', path))) t.fail(path);
  }
  t.equal(await bench.git('clone', 'lfs', 'fsck'), 'Git LFS fsck OK');

  await commit('work', { 'late.bin': Buffer.from('late') });
  await bench.git('work', 'push', '-q', remote, 'main');
  await bench.git(
    'clone',
    '-c',
    'filter.lfs.smudge=',
    '-c',
    'filter.lfs.process=',
    '-c',
    'filter.lfs.required=false',
    'pull',
    '-q',
    'origin',
    'main',
  );
  t.match(String(await read('clone', 'late.bin')), /^version https:\/\/git-lfs/, 'the pointer, before the pull');
  await bench.git('clone', 'lfs', 'pull');
  t.equal(String(await read('clone', 'late.bin')), 'late');

  // Push again. The memory use must stay the same, because git-lfs does not send objects that the server already has.
  const before = service.world.engine.memory.used;
  const again = await bench.try('work', 'lfs', 'push', '--all', remote);
  t.equal(again.status, 0, again.stderr);
  t.equal(service.world.engine.memory.used, before);
});

t.test('the credential may be a Bearer header; the token is neither logged nor in a URL', { skip }, async (t) => {
  const service = await stage(t);
  await track('bearer', { 'a.bin': Buffer.from('bearer') });
  const token = await service.token({ repo: 'team/app' });
  const url = `${service.emulator.gitUrl}/team/app.git`;
  const header = `http.extraHeader=Authorization: Bearer ${token}`;
  const pushed = await bench.try('bearer', '-c', header, 'push', url, 'main');
  t.equal(pushed.status, 0, pushed.stderr);
  t.equal(service.world.state.repositories.find('demo', 'team/app')!.record.lfsObjects!.size, 1);
  t.notMatch(JSON.stringify(service.emulator.requests()), token);
});

t.test('the names of a remote: literal and encoded slashes, ephemeral and import', { skip }, async (t) => {
  const service = await stage(t);
  await track('names', { 'one.bin': Buffer.from('one') });
  const paths = ['team/app', 'team%2Fapp', 'team/app+ephemeral', 'team/app+import'];
  for (const [at, path] of paths.entries()) {
    await commit('names', { [`${at}.bin`]: Buffer.from(`names ${at}`) });
    const pushed = await bench.try(
      'names',
      'push',
      await service.remote('team/app', { path }),
      `HEAD:refs/heads/b${at}`,
    );
    t.equal(pushed.status, 0, `${path}: ${pushed.stderr}`);
    t.equal(service.world.state.repositories.find('demo', 'team/app')!.record.lfsObjects!.size, at + 2, path);
  }
  service.world.state.repositories.find('demo', 'team/app')!.restore();
  for (const path of ['team/app', 'team%2Fapp', 'team/app+ephemeral']) {
    await rm(join(bench.path, 'names/.git/lfs/objects'), { recursive: true });
    const fetched = await bench.try('names', 'lfs', 'fetch', await service.remote('team/app', { path }), 'HEAD');
    t.equal(fetched.status, 0, `${path}: ${fetched.stderr}`);
    t.equal(await bench.git('names', 'lfs', 'fsck', '--objects'), 'Git LFS fsck OK', path);
  }
});

t.test('what git-lfs prints when a scope is missing', { skip }, async (t) => {
  const service = await stage(t);
  await track('scopes', { 's.bin': Buffer.from('scopes') });
  const reading = await service.remote('team/app', { scopes: ['git:read'] });
  const writing = await service.remote('team/app', { scopes: ['git:write'] });
  const refused = await bench.try('scopes', 'lfs', 'push', reading, 'main');
  t.not(refused.status, 0);
  t.match(refused.stderr, /The token lacks the scope git:write/);
  t.equal(service.world.state.repositories.find('demo', 'team/app')!.record.lfsObjects, undefined);
  t.not((await bench.try('scopes', 'push', reading, 'main')).status, 0);

  const pushed = await bench.try('scopes', 'push', writing, 'main');
  t.equal(pushed.status, 0, pushed.stderr);
  await rm(join(bench.path, 'scopes/.git/lfs/objects'), { recursive: true });
  const unread = await bench.try('scopes', 'lfs', 'fetch', writing, 'main');
  t.not(unread.status, 0);
  t.match(unread.stderr, /The token lacks the scope git:read/);
  t.equal((await bench.try('scopes', 'lfs', 'fetch', reading, 'main')).status, 0);
});

t.test('a damaged object is refused, and the push fails', { skip }, async (t) => {
  const service = await stage(t);
  const content = randomBytes(10_000);
  await track('damaged', { 'd.bin': content });
  const oid = oidOf(content);
  const stored = join(bench.path, 'damaged/.git/lfs/objects', oid.slice(0, 2), oid.slice(2, 4), oid);
  await writeFile(stored, randomBytes(10_000));
  await bench.git('damaged', 'config', 'lfs.transfer.maxretries', '1');
  const pushed = await bench.try('damaged', 'push', await service.remote('team/app'), 'main');
  t.not(pushed.status, 0);
  t.match(pushed.stderr, /The SHA-256 of the uploaded content is not the oid/);
  t.equal(service.world.engine.memory.used, 0);
  t.equal(service.world.state.repositories.find('demo', 'team/app')!.git.refs.size, 0);
});

t.test('an interrupted download is resumed', { skip }, async (t) => {
  const service = await stage(t);
  const content = randomBytes(1024 * 1024);
  await track('resume', { 'r.bin': content });
  const remote = await service.remote('team/app');
  await bench.git('resume', 'push', '-q', remote, 'main');
  const objects = join(bench.path, 'resume/.git/lfs');
  const oid = oidOf(content);
  await rm(join(objects, 'objects'), { recursive: true });
  await mkdir(join(objects, 'incomplete'), { recursive: true });
  await writeFile(join(objects, 'incomplete', `${oid}.part`), content);
  await truncate(join(objects, 'incomplete', `${oid}.part`), 700_000);
  const fetched = await bench.run('resume', 'env', ['GIT_TRACE=1', 'git', 'lfs', 'fetch', remote, 'main']);
  t.equal(fetched.status, 0, fetched.stderr);
  t.match(fetched.stderr, /server accepted resume download request: "\w+" from byte 700000/);
  t.equal(await bench.git('resume', 'lfs', 'fsck', '--objects'), 'Git LFS fsck OK');
});

t.test('a fork has the objects of its source and keeps them after the source is deleted', { skip }, async (t) => {
  const service = await stage(t);
  const { world } = service;
  await track('origin', { 'f.bin': randomBytes(300_000) });
  await bench.git('origin', 'push', '-q', await service.remote('team/app'), 'main');
  const held = world.engine.memory.used;
  const base_repo = {
    provider: 'code',
    name: 'team/app',
    operation: 'fork',
    auth: { token: await service.token({ repo: 'team/app' }) },
  };
  t.equal((await service.call('POST', '/api/repos', { repo: 'team/fork', json: { base_repo } })).status, 201);
  t.ok(world.engine.memory.used < held + 100_000, 'counted once');
  t.equal((await service.call('DELETE', '/api/repos/team%2Fapp')).status, 200);
  t.ok(world.engine.memory.used > 300_000, 'still held');
  const cloned = await clone(await service.remote('team/fork'), 'fork');
  t.equal(cloned.status, 0, cloned.stderr);
  t.ok((await read('origin', 'f.bin')).equals(await read('fork', 'f.bin')));
  t.equal((await service.call('DELETE', '/api/repos/team%2Ffork', { repo: 'team/fork' })).status, 200);
  t.equal(world.engine.memory.used, 0, 'gone with the last repository that had it');
});

t.test('lock, list, verify before a push, unlock', { skip }, async (t) => {
  const service = await stage(t);
  await track('locks', { 'l.bin': Buffer.from('locked') });
  const ada = await service.remote('team/app', { sub: 'ada' });
  const bob = await service.remote('team/app', { sub: 'bob' });
  await bench.git('locks', 'push', '-q', ada, 'main');
  await bench.git('locks', 'config', 'lfs.locksverify', 'true');
  await bench.git('locks', 'remote', 'add', 'ada', ada);
  await bench.git('locks', 'remote', 'add', 'bob', bob);
  t.match(await bench.git('locks', 'lfs', 'lock', '--remote=ada', 'l.bin'), /Locked l\.bin/);
  t.match(await bench.git('locks', 'lfs', 'locks', '--remote=bob'), /^l\.bin\s+ada\s+ID:/);
  const clash = await bench.try('locks', 'lfs', 'lock', '--remote=bob', 'l.bin');
  t.not(clash.status, 0);
  t.match(clash.stderr, /The file is already locked/);
  await commit('locks', { 'l.bin': Buffer.from('changed') });
  const halted = await bench.try('locks', 'push', 'bob', 'main');
  t.not(halted.status, 0);
  t.match(halted.stderr + halted.stdout, /l\.bin - ada/);
  const denied = await bench.try('locks', 'lfs', 'unlock', '--remote=bob', 'l.bin');
  t.match([denied.status === 0, denied.stderr], [false, /The lock belongs to ada\./]);
  const passed = await bench.try('locks', 'push', 'ada', 'main');
  t.equal(passed.status, 0, passed.stderr);
  t.match(await bench.git('locks', 'lfs', 'unlock', '--remote=bob', '--force', 'l.bin'), /Unlocked l\.bin/);
  t.equal(await bench.git('locks', 'lfs', 'locks', '--remote=ada'), '');
});

t.test(
  'an object that is too large, or exceeds the memory limit, is refused before it is sent',
  { skip },
  async (t) => {
    await track('large', { 'l.bin': randomBytes(10_000) });
    const rows: [object, RegExp][] = [
      [{ maxLfsObjectBytes: 5_000 }, /but at most 5000 are allowed/],
      [{ maxHeldBytes: 5_000 }, /limited to 5000 bytes/],
    ];
    for (const [limits, message] of rows) {
      const service = await startService({ limits });
      t.teardown(() => service.emulator.close({ graceMs: 0 }));
      await service.call('POST', '/api/repos');
      const pushed = await bench.try('large', 'push', await service.remote('team/app'), 'main');
      t.not(pushed.status, 0);
      t.match(pushed.stderr, message);
      const sent = service.emulator.requests().filter(({ method }) => method === 'PUT');
      t.equal(sent.length, 0);
    }
  },
);
