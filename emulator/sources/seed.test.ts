import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { GitUpstream, hasGit } from '../test/git/git-upstream.js';
import { startService } from '../test/service.js';
import { stateDigest } from '../test/world/state-digest.js';

// needs: git

const CLOCK = Date.parse('2026-01-01T00:00:00Z');
const ENVIRONMENT = {
  PATH: process.env.PATH,
  HOME: tmpdir(),
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'A',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'A',
  GIT_COMMITTER_EMAIL: 'a@example.com',
};

async function stage(t: Test, options = {}) {
  const service = await startService({ clock: CLOCK, ...options });
  const folder = mkdtempSync(join(tmpdir(), 'seed-'));
  t.teardown(async () => {
    await service.emulator.close({ graceMs: 0 });
    rmSync(folder, { recursive: true, force: true });
  });
  const git = (args: string[], at = folder, input = '') =>
    execFileSync('git', args, { cwd: at, env: ENVIRONMENT, input, stdio: ['pipe', 'pipe', 'ignore'] })
      .toString()
      .trim();
  return { service, emulator: service.emulator, folder, git };
}

/** Creates a Git work tree with two branches, a tag of a tag, a note, and loose and packed objects. */
function workTree(folder: string, git: (args: string[], at?: string, input?: string) => string): string {
  const at = join(folder, 'work');
  git(['init', '-q', '-b', 'trunk', at]);
  writeFileSync(join(at, 'a.txt'), 'one\n');
  git(['add', '.'], at);
  git(['commit', '-q', '-m', 'one'], at);
  git(['repack', '-adq'], at);
  git(['pack-refs', '--all'], at);
  writeFileSync(join(at, 'a.txt'), 'two\n');
  git(['commit', '-qam', 'two'], at);
  git(['tag', '-a', '-m', 't', 'v1'], at);
  git(['tag', '-a', '-m', 'tt', 'v2', 'v1'], at);
  git(['branch', 'side', 'HEAD~1'], at);
  git(['notes', 'add', '-m', 'a note'], at);
  git(['update-ref', 'refs/remotes/origin/x', 'HEAD'], at);
  return at;
}

const REFS = ['for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads', 'refs/tags', 'refs/notes'];

t.test('contents by path become one commit, the same each time', async (t) => {
  const { emulator, service } = await stage(t);
  const files = { 'README.md': 'hello\n', 'src/a.bin': Buffer.from([0, 255]) };
  const made = await emulator.repository('team/app').seed(files);
  const before = emulator.clock.now();
  t.equal(before, CLOCK, 'the clock has not moved');
  t.match(made, {
    name: 'team/app',
    organization: 'demo',
    isNew: true,
    defaultBranch: 'main',
    refs: { 'refs/heads/main': made.commit! },
  });
  const read = await service.call('GET', '/api/v1/repos/file?path=src/a.bin');
  t.same([...read.bytes], [0, 255]);
  const other = await stage(t);
  t.same(await other.emulator.repository('team/app').seed(files), made);
  t.same(await emulator.repository('team/app').seed(files), { ...made, isNew: false }, 'what is there needs no commit');
  const next = await emulator.repository('team/app').seed({ 'README.md': 'bye\n' });
  const listed = await service.call('GET', '/api/v1/repos/commits');
  t.same(
    listed.json.commits.map(({ sha }: { sha: string }) => sha),
    [next.commit, made.commit],
  );
  const fork = await emulator.repository('fork').seed(emulator.repository('team/app'));
  t.equal(fork.commit, next.commit);
  const world = await emulator.namespace();
  t.equal((await world.repository('x').seed(emulator.repository('fork'))).commit, next.commit);
  t.match(await emulator.repository('trunked').seed({ a: 'b' }, { defaultBranch: 'trunk' }), {
    defaultBranch: 'trunk',
  });
});

t.test('a refused source changes nothing', async (t) => {
  const { emulator, service, folder } = await stage(t, { org: ['demo'], limits: { maxFiles: 3, maxObjectBytes: 100 } });
  mkdirSync(join(folder, 'deep/.GIT'), { recursive: true });
  mkdirSync(join(folder, 'pipe'));
  execFileSync('mkfifo', [join(folder, 'pipe/p')]);
  mkdirSync(join(folder, 'plain'));
  symlinkSync('plain', join(folder, 'link'));
  writeFileSync(join(folder, 'no-bundle'), 'text\n\nmore');
  writeFileSync(
    join(folder, 'old.bundle'),
    `# v2 git bundle\n-${'a'.repeat(40)} x\n${'b'.repeat(40)} refs/heads/main\n\nPACK`,
  );
  writeFileSync(join(folder, 'sha256.bundle'), `# v3 git bundle\n@object-format=sha256\n\nPACK`);
  writeFileSync(join(folder, 'torn.bundle'), `# v2 git bundle\n${'b'.repeat(40)} refs/heads/main\n\nPACK`);
  mkdirSync(join(folder, 'state'));
  writeFileSync(join(folder, 'state/emulator.json'), '{"format":"repohost-emulator"}');
  const rows: [unknown, RegExp][] = [
    [{ '../x': '' }, /"\.\.\/x" has a segment/],
    [{ '.git/config': '' }, /treats? as `\.git`/],
    [{ 'a//b': '' }, /empty segment/],
    [{ a: '', 'a/b': '' }, /cannot be a f/],
    [{ '': '' }, /is empty/],
    [{ a: 1 }, /"a" must be a string or bytes/],
    [{ '\ud800': '' }, /Unicode/],
    [{ a: '', b: '', c: '', d: '' }, /more than 3 files/],
    [{ a: 'x'.repeat(101) }, /more than 100 bytes: a/],
    [null, /A source must be/],
    [[], /A source must be/],
    [7, /A source must be/],
    ['ssh://host/x', /Cloning from ssh:\/\/ is not supported/],
    ['http://127.0.0.1:1/x.git', /cannot be reached/],
    [join(folder, 'none'), /cannot be read \(no such file or directory\)/],
    [join(folder, 'deep'), /"deep\/\.GIT"|"\.GIT" has a segment/],
    [join(folder, 'pipe'), /contains p, which is neither a file/],
    [join(folder, 'pipe/p'), /neither a file nor a folder/],
    [join(folder, 'link'), /symbolic link/],
    [join(folder, 'no-bundle'), /is not a Git bundle/],
    [join(folder, 'old.bundle'), /lacks commits that it requires/],
    [join(folder, 'sha256.bundle'), /does not use SHA-1/],
    [join(folder, 'torn.bundle'), /cannot be imported: .*pack/],
    [join(folder, 'state'), /is an export of an emulator/],
    [emulator.repository('nothing'), /repository "nothing" does not exist/],
  ];
  const digest = stateDigest(service.world);
  const ids = service.world.state.ids.snapshot();
  const { used } = service.world.engine.memory;
  for (const [source, message] of rows) {
    await t.rejects(emulator.repository('team/app').seed(source as string), { message }, String(message));
  }
  for (const name of ['', '../x', 'a//b', 'x+ephemeral', 'a\\b', 'x'.repeat(256)])
    await t.rejects(emulator.repository(name).seed({ a: '' }), /The repository name/, name);
  await t.rejects(emulator.repository('x', { org: 'none' }).seed({ a: '' }), /The organization "none" does not exist/);
  t.equal(stateDigest(service.world), digest);
  t.same(service.world.state.ids.snapshot(), ids);
  t.equal(service.world.engine.memory.used, used);
});

t.test('a folder is stored as it is, links as links', async (t) => {
  const { emulator, folder, service } = await stage(t);
  const at = join(folder, 'files');
  mkdirSync(join(at, 'sub/.git'), { recursive: true });
  mkdirSync(join(at, 'empty'));
  writeFileSync(join(at, 'sub/.git/config'), 'x');
  writeFileSync(join(at, 'run.sh'), '#!/bin/sh\n');
  chmodSync(join(at, 'run.sh'), 0o755);
  writeFileSync(join(at, 'sub/ä'), 'u');
  symlinkSync('/etc/passwd', join(at, 'secret'));
  const { commit } = await emulator.repository('r').seed(at);
  const tree = (await service.call('GET', `/_emulator/repositories/r/tree/${commit}`, { token: null })).json.items;
  t.match(tree, [
    { name: 'run.sh', mode: '100755' },
    { name: 'secret', mode: '120000', size: '/etc/passwd'.length },
    { name: 'sub', type: 'tree' },
  ]);
  t.equal(tree.length, 3);
});

t.test('histories: work tree, bare, bundle and URL', { skip: !hasGit }, async (t) => {
  const { emulator, folder, git, service } = await stage(t);
  const at = workTree(folder, git);
  const wanted = git(REFS, at);
  git(['clone', '-q', '--mirror', at, join(folder, 'bare.git')]);
  git(['bundle', 'create', join(folder, 'all.bundle'), '--all'], at);
  git(['bundle', 'create', '--version=3', join(folder, 'v3.bundle'), '--all'], at);
  await using upstream = await GitUpstream.start();
  git(['clone', '-q', '--mirror', at, join(upstream.path, 'up.git')]);
  const sources = {
    at,
    bare: join(folder, 'bare.git'),
    bundle: join(folder, 'all.bundle'),
    v3: join(folder, 'v3.bundle'),
  };
  for (const [name, source] of Object.entries({ ...sources, url: `${upstream.origin}/up.git` })) {
    const made = await emulator.repository(name).seed(source);
    const refs = Object.entries(made.refs).map(([ref, oid]) => `${ref} ${oid}`);
    t.same(refs.sort(), wanted.split('\n').sort(), name);
    t.match(made, { defaultBranch: 'trunk', commit: git(['rev-parse', 'HEAD'], at) });
    const clone = join(folder, `clone-${name}`);
    await promisify(execFile)('git', ['clone', '-q', '--mirror', await service.remote(name), clone], {
      env: ENVIRONMENT,
    });
    t.equal(git(REFS, clone), wanted);
    git(['fsck', '--strict'], clone);
    t.same(await emulator.repository(name).seed(source), { ...made, isNew: false });
  }
  writeFileSync(join(at, 'a.txt'), 'three\n');
  git(['commit', '-qam', 'three'], at);
  t.equal((await emulator.repository('bundle').seed(at)).commit, git(['rev-parse', 'HEAD'], at), 'a branch goes on');
  git(['commit', '-q', '--amend', '-m', 'other'], at);
  await t.rejects(emulator.repository('bundle').seed(at), /refs\/heads\/trunk of .* lacks commits/);
});

t.test('content outside the folder is refused', { skip: !hasGit }, async (t) => {
  const { emulator, folder, git, service } = await stage(t);
  const at = workTree(folder, git);
  git(['clone', '-q', '--shared', '--bare', at, join(folder, 'shared.git')]);
  git(['clone', '-q', '--bare', '--depth=1', `file://${at}`, join(folder, 'shallow.git')]);
  git(['worktree', 'add', '-q', join(folder, 'linked'), 'side'], at);
  git(['init', '-q', '--object-format=sha256', '--bare', join(folder, 'sha256.git')]);
  git(['clone', '-q', '--bare', at, join(folder, 'linkhead.git')]);
  rmSync(join(folder, 'linkhead.git/HEAD'));
  symlinkSync('/etc/hostname', join(folder, 'linkhead.git/HEAD'));
  git(['clone', '-q', '--bare', at, join(folder, 'gone.git')]);
  rmSync(join(folder, 'gone.git/objects'), { recursive: true });
  mkdirSync(join(folder, 'gone.git/objects'));
  const bad = join(folder, 'bad.git');
  git(['init', '-q', '--bare', bad]);
  const tree = git(
    ['hash-object', '-t', 'tree', '--literally', '-w', '--stdin'],
    bad,
    `100644 .git\0${'x'.repeat(20)}`,
  );
  const commit = git(['commit-tree', tree, '-m', 'x'], bad);
  git(['update-ref', 'refs/heads/main', commit], bad);
  const digest = stateDigest(service.world);
  for (const [name, message] of [
    ['shared.git', /uses objects of another repository/],
    ['shallow.git', /shallow clone/],
    ['linked', /linked work tree/],
    ['sha256.git', /SHA-256/],
    ['linkhead.git', /contains HEAD, which is neither/],
    ['gone.git', /is incomplete/],
    ['bad.git', /invalid|incomplete/],
  ] as const)
    await t.rejects(emulator.repository('r').seed(join(folder, name)), { message }, name);
  t.equal(stateDigest(service.world), digest);
});
