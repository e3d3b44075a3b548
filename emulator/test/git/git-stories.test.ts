import t, { type Test } from 'tap';
import { linearHistory } from '../../git/test/history.js';
import { Workbench } from '../../git/test/workbench.js';
import { packBody, type Service, startService } from '../service.js';
import { pushBody, pushRaw, reportOf } from './raw-push.js';

/** Starts an emulator, and creates a folder in which the test runs the real git. */
async function setUp(t: Test): Promise<{ service: Service; bench: Workbench }> {
  const service = await startService();
  const bench = await Workbench.create();
  t.teardown(async () => {
    await service.emulator.close();
    await bench[Symbol.asyncDispose]();
  });
  return { service, bench };
}

/** Returns the sorted ids of all objects that are reachable from any ref of a clone. */
async function objectsOf(bench: Workbench, folder: string): Promise<string[]> {
  const listed = await bench.git(folder, 'rev-list', '--objects', '--no-object-names', '--all');
  return listed.split('\n').sort();
}

t.test('a project goes in by push, comes back identical, and takes commits from both sides', async (t) => {
  const { service, bench } = await setUp(t);
  const { call } = service;
  t.equal((await call('POST', '/api/repos')).status, 201);
  await bench.import('work', linearHistory(60));
  const remote = await service.remote('team/app');
  await bench.git('work', 'push', '-q', '--mirror', remote);
  await bench.git('.', 'clone', '-q', '--mirror', remote, 'copy.git');
  await bench.git('copy.git', 'fsck', '--strict', '--full', '--no-dangling');
  t.same(await objectsOf(bench, 'copy.git'), await objectsOf(bench, 'work'));
  const refs = ['for-each-ref', '--format=%(refname) %(objectname) %(*objectname)'];
  t.equal(await bench.git('copy.git', ...refs), await bench.git('work', ...refs));

  const tip = await bench.git('work', 'rev-parse', 'main');
  const written = await service.commit('team/app', { 'from/api.txt': 'api\n' }, { expected_head_sha: tip });
  t.match(written, { status: 201, json: { result: { old_sha: tip, success: true } } });
  const behind = await bench.try('work', 'push', remote, 'main~1:refs/heads/main');
  t.equal(behind.status, 1);
  t.match(behind.stderr, /rejected/, 'git sees that the branch moved');

  await bench.git('work', 'fetch', '-q', remote, 'main');
  t.equal(await bench.git('work', 'rev-parse', 'FETCH_HEAD'), written.json.commit.commit_sha);
  t.equal(await bench.git('work', 'rev-parse', 'FETCH_HEAD~1'), tip);
  t.equal(await bench.git('work', 'show', 'FETCH_HEAD:from/api.txt'), 'api');
  await bench.git('work', 'fsck', '--strict', '--full', '--no-dangling');

  await bench.git('work', 'reset', '-q', '--hard', 'FETCH_HEAD');
  await bench.git('work', 'commit', '-q', '--allow-empty', '-m', 'by git');
  await bench.git('work', 'push', '-q', remote, 'main');
  const stale = await service.commit('team/app', { x: 'x' }, { expected_head_sha: written.json.commit.commit_sha });
  const now = await bench.git('work', 'rev-parse', 'main');
  t.match(stale, { status: 409, json: { code: 'conflict', result: { old_sha: now, success: false } } });
  const seen = await call('GET', '/api/repos/team%2Fapp/commit?sha=main');
  t.match(seen.json.commit, { sha: now, message: 'by git\n', parent_shas: [written.json.commit.commit_sha] });
});

t.test('git shows why a credential is refused', async (t) => {
  const { service, bench } = await setUp(t);
  await service.seed('team/app');
  await bench.git('.', 'init', '-q', '-b', 'main', 'work');
  await bench.git('work', 'commit', '-q', '--allow-empty', '-m', 'x');
  const now = Date.now();
  const url = service.emulator.gitUrl;
  const rows: [what: string, push: boolean, remote: string, text: RegExp][] = [
    ['no credential', false, `${url}/team/app.git`, /could not read Username|Authentication failed|terminal prompts/],
    ['garbage', false, `${url.replace('://', '://t:garbage@')}/team/app.git`, /returned error: 403/],
    [
      'an expired token',
      false,
      await service.remote('team/app', { ttl: 60, now: now - 3_600_000 }),
      /returned error: 403/,
    ],
    ['no git:read', false, await service.remote('team/app', { scopes: ['git:write'] }), /returned error: 403/],
    ['no git:write', true, await service.remote('team/app', { scopes: ['git:read'] }), /returned error: 403/],
    ['a token of another repository', false, await service.remote('other', { path: 'team/app' }), /not found/],
    ['a repository that is not there', false, await service.remote('gone'), /not found/],
    ['a deleted key', false, await service.remote('team/app', { key: 'deleted' }), /returned error: 403/],
  ];
  const tip = async () => (await service.call('GET', '/api/repos/team%2Fapp/commit?sha=main')).json.commit.sha;
  const before = await tip();
  for (const [what, push, remote, text] of rows) {
    const response = push
      ? await bench.try('work', 'push', '-f', remote, 'main')
      : await bench.try('.', 'ls-remote', remote);
    t.equal(response.status, 128, what);
    t.match(response.stderr, text, what);
    t.equal(response.stdout, '', `${what}: no refs are shown`);
  }
  t.equal(await tip(), before);
  const writer = await service.remote('team/app', { scopes: ['git:write'] });
  const forced = await bench.try('work', 'push', '-f', writer, 'main');
  t.equal(forced.status, 0, `git:write alone is enough to push: ${forced.stderr}`);
});

t.test('the ephemeral remote: refs of its own on the same objects, promoted by the API', async (t) => {
  const { service, bench } = await setUp(t);
  const { call } = service;
  const seeded = await service.seed('team/app', { 'a.txt': 'a\n' });
  const normal = await service.remote('team/app');
  const ephemeral = await service.remote('team/app', { path: 'team/app+ephemeral' });
  t.equal(await bench.git('.', 'ls-remote', ephemeral), '', 'nothing of the normal refs shows');
  await bench.git('.', 'clone', '-q', normal, 'work');
  await bench.git('work', 'commit', '-q', '--allow-empty', '-m', 'draft');
  const draft = await bench.git('work', 'rev-parse', 'HEAD');
  await bench.git('work', 'push', '-q', ephemeral, 'main', 'main:preview/one');
  t.equal(
    await bench.git('.', 'ls-remote', '--heads', ephemeral),
    `${draft}\trefs/heads/main\n${draft}\trefs/heads/preview/one`,
  );
  t.equal(await bench.git('.', 'ls-remote', '--heads', normal), `${seeded}\trefs/heads/main`);

  const list = async (flag: string) =>
    (await call('GET', `/api/repos/team%2Fapp/branches?ephemeral=${flag}`)).json.branches.map(
      ({ name, head_sha }: { name: string; head_sha: string }) => `${name} ${head_sha}`,
    );
  t.same(await list('true'), [`main ${draft}`, `preview/one ${draft}`]);
  t.same(await list('false'), [`main ${seeded}`]);
  t.equal((await call('GET', '/api/v1/repos/file?path=a.txt&ref=preview%2Fone')).status, 404);
  t.equal((await call('GET', '/api/v1/repos/file?path=a.txt&ref=preview%2Fone&ephemeral=true')).status, 200);

  const promoted = await call('POST', '/api/repos/team%2Fapp/branches/create', {
    json: { target_branch: 'release', base_branch: 'preview/one', base_is_ephemeral: true },
  });
  t.match(promoted, { status: 200, json: { target_branch: 'release', commit_sha: draft } });
  t.match(await bench.git('.', 'ls-remote', '--heads', normal), `${draft}\trefs/heads/release`);
  const written = await service.commit('team/app', { 'b.txt': 'b' }, { target_branch: 'preview/one', ephemeral: true });
  t.match(written, { status: 201, json: { result: { old_sha: draft } } });
  await bench.git('.', 'clone', '-q', '-b', 'preview/one', ephemeral, 'preview');
  t.equal(await bench.git('preview', 'rev-parse', 'HEAD'), written.json.commit.commit_sha);
  await bench.git('preview', 'fsck', '--strict', '--full');
  await bench.git('work', 'push', '-q', ephemeral, ':main');
  t.same(await list('true'), [`preview/one ${written.json.commit.commit_sha}`], 'its main is no default branch');

  const hidden = await bench.try('work', 'push', normal, 'HEAD:refs/namespaces/ephemeral/refs/heads/x');
  t.equal(hidden.status, 1, 'the namespace is out of reach of the normal remote');
});

t.test('the import remote takes pushes and shows nothing to readers', async (t) => {
  const { service, bench } = await setUp(t);
  t.equal((await service.call('POST', '/api/repos', { repo: 'imported' })).status, 201);
  await bench.import('work', linearHistory(12));
  const remote = await service.remote('imported', { path: 'imported+import' });
  await bench.git('work', 'push', '-q', remote, 'main', '--tags');
  const read = await bench.try('.', 'clone', '-q', remote, 'nothing');
  t.equal(read.status, 128);
  t.match(read.stderr, /403/);
  await bench.git('.', 'clone', '-q', '--mirror', await service.remote('imported'), 'copy.git');
  t.same(await objectsOf(bench, 'copy.git'), await objectsOf(bench, 'work'));
});

t.test('a token’s policy is what git and the API are both told', async (t) => {
  const { service, bench } = await setUp(t);
  const { call } = service;
  const seeded = await service.seed('team/app');
  const claims = {
    refs: [
      ['main', ['no-push']],
      ['refs/heads/topic/*', ['no-force-push']],
      ['*', []],
    ],
  };
  const remote = await service.remote('team/app', { claims });
  await bench.git('.', 'clone', '-q', remote, 'work');
  await bench.git('work', 'commit', '-q', '--allow-empty', '-m', 'one');
  const denied = await bench.try('work', 'push', remote, 'HEAD:main', 'HEAD:topic/a', 'HEAD:free');
  t.equal(denied.status, 1);
  t.match(denied.stderr, /! \[remote rejected\] HEAD -> main \(denied by policy/);
  t.match(denied.stderr, /\* \[new branch\] +HEAD -> topic\/a/);
  await bench.git('work', 'commit', '-q', '--amend', '--allow-empty', '-m', 'other');
  const forced = await bench.try('work', 'push', '-f', remote, 'HEAD:topic/a', 'HEAD:free');
  t.match(forced.stderr, /HEAD -> topic\/a \(denied by policy/);
  t.match(forced.stderr, /\+ .* HEAD -> free \(forced update\)/);
  const removed = await bench.try('work', 'push', remote, ':topic/a');
  t.match(removed.stderr, /denied by policy/, 'a deletion drops the old tip as well');

  const token = await service.token({ repo: 'team/app', claims });
  const post = (path: string, json: unknown, method = 'POST') =>
    call(method, `/api/repos/team%2Fapp/${path}`, { token, json });
  const refused = { status: 403, json: { code: 'forbidden', detail: /denied by policy/ } };
  const restore = {
    metadata: { target_branch: 'main', target_commit_sha: seeded, author: { name: 'A', email: 'a@example.com' } },
  };
  t.match(await post('restore-commit', restore), refused);
  t.match(await post('branches/create', { target_branch: 'main', base_ref: 'free', force: true }), refused);
  t.match(await post('branches/create', { target_branch: 'topic/a', base_ref: 'main', force: true }), refused);
  t.match(await post('branches', { name: 'topic/a' }, 'DELETE'), refused);
  t.match(await post('branches/create', { target_branch: 'topic/b', base_ref: 'main' }), { status: 200 });
  const commit = (branch: string) =>
    call('POST', '/api/v1/repos/commit-pack', { token, body: packBody({ n: 'n' }, { target_branch: branch }) });
  t.match(await commit('main'), refused);
  t.match(await commit('topic/b'), { status: 201 });
  const notes = await service.token({ repo: 'team/app', claims: { refs: [['refs/notes/*', ['no-push']]] } });
  t.match(await call('POST', '/api/v1/repos/notes', { token: notes, json: { sha: 'main', note: 'n' } }), refused);
  t.equal((await call('GET', '/api/v1/repos/commit?sha=main')).json.commit.sha, seeded);
});

t.test('the default branch stays, other names are as good in git as in the API', async (t) => {
  const { service, bench } = await setUp(t);
  const { call } = service;
  await service.seed('team/app');
  const remote = await service.remote('team/app');
  await bench.git('.', 'clone', '-q', remote, 'work');
  const refused = await bench.try('work', 'push', remote, ':main');
  t.equal(refused.status, 1);
  t.match(refused.stderr, /! \[remote rejected\] main \(deletion of the current branch prohibited\)/);
  t.match(await call('DELETE', '/api/repos/team%2Fapp/branches', { json: { name: 'main' } }), {
    status: 409,
    json: { code: 'conflict' },
  });
  const names = ['größe', 'feature/a.b', "it's", 'x'.repeat(200), '日本/語', '%2F', 'a+b', 'a"b', '@@', 'e\u0301'];
  await bench.git('work', 'push', '-q', remote, ...names.map((name) => `HEAD:refs/heads/${name}`));
  for (const name of names) {
    const query = `name=${encodeURIComponent(name)}`;
    t.match(await call('GET', `/api/repos/team%2Fapp/branch?${query}`), { status: 200, json: { branch: { name } } });
    const target_branch = `${name}-2`;
    const created = await call('POST', '/api/repos/team%2Fapp/branches/create', {
      json: { target_branch, base_ref: name },
    });
    t.match(created, { status: 200, json: { target_branch } }, name);
    t.match((await service.commit('team/app', { [name]: name }, { target_branch })).status, 201, name);
    const shown = await call('GET', `/api/v1/repos/branches/diff?branch=${encodeURIComponent(target_branch)}`);
    t.match(shown.json.files, [{ path: name, state: 'A' }], name);
  }
  await bench.git('work', 'fetch', '-q', remote, '+refs/heads/*:refs/heads/copy/*');
  for (const name of names) {
    t.equal(Buffer.from(await bench.git('work', 'show', `copy/${name}-2:${name}`), 'latin1').toString(), name);
  }
  await bench.git('work', 'fsck', '--strict');
});

t.test('a default branch beyond ASCII is a default branch like any other', async (t) => {
  const { service, bench } = await setUp(t);
  const { call } = service;
  t.equal((await call('POST', '/api/repos', { json: { default_branch: 'größe' } })).status, 201);
  t.equal((await service.commit('team/app', { a: 'a\n' }, { target_branch: 'größe' })).status, 201);
  t.equal((await service.commit('team/app', { b: 'b\n' }, { target_branch: 'b', base_branch: 'größe' })).status, 201);
  t.match((await call('GET', '/api/v1/repo')).json, { default_branch: 'größe' });
  t.match(await call('GET', '/api/v1/repos/branches/diff?branch=b'), {
    status: 200,
    json: { base: 'größe', files: [{ path: 'b' }] },
  });
  for (const target of ['commits', 'files', 'files/metadata', 'file?path=a', 'blame?path=a', 'diff?sha=b']) {
    t.equal((await call('GET', `/api/v1/repos/${target}`)).status, 200, target);
  }
  t.equal((await call('GET', '/api/v1/repos/files/metadata')).json.ref, 'größe');
  t.match(await call('DELETE', '/api/v1/repos/branches', { json: { name: 'größe' } }), { status: 409 });
  await bench.git('.', 'clone', '-q', await service.remote('team/app'), 'work');
  t.equal(Buffer.from(await bench.git('work', 'branch', '--show-current'), 'latin1').toString(), 'größe');
});

t.test('repository names with slashes, literal and encoded, and of every other kind', async (t) => {
  const { service, bench } = await setUp(t);
  const names = [
    'a/b/c',
    'x.git',
    'größe',
    'a b',
    'a+b',
    "it's",
    'a%2Fb',
    'info/refs',
    'a.git/info',
    'UPPER',
    '-x',
    '@',
  ];
  for (const repo of names) {
    await service.seed(repo, { 'name.txt': repo });
    const literal = repo.split('/').map(encodeURIComponent).join('/');
    for (const path of new Set([literal, encodeURIComponent(repo)])) {
      const remote = await service.remote(repo, { path });
      const cloned = await bench.try('.', 'clone', '-q', remote, 'copy');
      t.equal(cloned.status, 0, `${path}: ${cloned.stderr}`);
      t.equal(Buffer.from(await bench.git('copy', 'show', 'HEAD:name.txt'), 'latin1').toString(), repo);
      await bench.git('copy', 'commit', '-q', '--allow-empty', '-m', path);
      await bench.git('copy', 'push', '-q', 'origin', 'HEAD');
      await bench.run('.', 'rm', ['-rf', 'copy']);
    }
  }
  const other = await service.remote('a/b/c', { path: 'a%252Fb%252Fc' });
  t.match((await bench.try('.', 'ls-remote', other)).stderr, /not found/, 'the path is decoded once');
});

t.test('no refs, and thousands', async (t) => {
  const { service, bench } = await setUp(t);
  t.equal((await service.call('POST', '/api/repos')).status, 201);
  const remote = await service.remote('team/app');
  t.equal(await bench.git('.', 'ls-remote', remote), '');
  const empty = await bench.try('.', 'clone', remote, 'empty');
  t.match(empty, { status: 0, stderr: /empty repository/ });
  t.equal(await bench.git('empty', 'symbolic-ref', 'HEAD'), 'refs/heads/main', 'HEAD of the empty one is told');

  const tip = await service.commit('team/app', { a: 'a' }).then((response) => response.json.commit.commit_sha);
  const names = ['main', ...Array.from({ length: 5000 }, (_, n) => `topic/${n}`)].sort();
  const refs = names.filter((name) => name !== 'main').map((name) => `refs/heads/${name}`);
  // Push without git, which needs quadratic time for so many refs.
  const zero = '0'.repeat(40);
  const pushed = await pushRaw(service, 'team/app', pushBody(refs.map((ref) => ({ ref, old: zero, new: tip }))));
  t.same(reportOf(pushed), ['unpack ok', ...refs.map((ref) => `ok ${ref}`)]);
  t.equal(
    await bench.git('.', 'ls-remote', '--heads', remote),
    names.map((name) => `${tip}\trefs/heads/${name}`).join('\n'),
  );
  await bench.git('.', 'clone', '-q', '--mirror', remote, 'mirror.git');
  t.equal((await bench.git('mirror.git', 'for-each-ref', '--format=%(refname)')).split('\n').length, names.length);

  const listed: string[] = [];
  for (let cursor = ''; cursor !== '&cursor=null'; ) {
    const page = await service.call('GET', `/api/v1/repos/branches?limit=1000${cursor}`);
    listed.push(...page.json.branches.map(({ name }: { name: string }) => name));
    cursor = `&cursor=${page.json.next_cursor}`;
  }
  t.same(listed, names, 'pages of 100, each branch once');
  const gone = await pushRaw(service, 'team/app', pushBody(refs.map((ref) => ({ ref, old: tip, new: zero }))));
  t.equal(reportOf(gone).filter((line) => line.startsWith('ok ')).length, refs.length);
  t.equal(await bench.git('.', 'ls-remote', '--heads', remote), `${tip}\trefs/heads/main`);
});
