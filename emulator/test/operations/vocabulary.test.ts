import t, { type Test } from 'tap';
import { packBody, type Service, type ServiceResponse, startService } from '../service.js';

/** Tests API members that have both an old and a new name. Requests may mix the names, and responses contain both. */

const REPO = '/api/repos/team%2Fapp';
const NONE = 'f'.repeat(40);
const ADA = { name: 'Ada', email: 'ada@example.com' };

async function stage(t: Test) {
  const service = await startService({ clock: Date.parse('2026-01-01T00:00:00Z') });
  t.teardown(() => service.emulator.close());
  const first = await service.seed('team/app', { 'src/one.txt': 'one\n', 'top.txt': 'top\n' });
  const tip: string = (await service.commit('team/app', { 'src/two.txt': 'two\n' })).json.commit.commit_sha;
  const topic = (await service.commit('team/app', { t: 't\n' }, { target_branch: 'topic', base_branch: 'main' })).json;
  return { service, first, tip, topic: topic.commit.commit_sha as string };
}

function ask(service: Service, path: string, query: Record<string, string> = {}): Promise<ServiceResponse> {
  return service.call('GET', `${REPO}/${path}?${new URLSearchParams(query)}`);
}

function send(service: Service, method: string, path: string, json: object): Promise<ServiceResponse> {
  return service.call(method, `${REPO}/${path}`, { json });
}

function streamed(...lines: object[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

t.test('the new name of a query parameter takes precedence over the old one', async (t) => {
  const { service, first, tip, topic } = await stage(t);
  await send(service, 'POST', 'branches/create', { target_branch: 'main', base_ref: topic, target_is_ephemeral: true });
  await send(service, 'POST', 'notes', { sha: first, note: 'n', ref: 'reviews' });

  t.match((await ask(service, 'commit', { sha: NONE, ref: 'main' })).json, { commit: { sha: tip } });
  t.match(await ask(service, 'commit', { sha: tip, ref: NONE }), { status: 404 });
  const ephemeral = await ask(service, 'commit', { ref: 'main', ref_is_ephemeral: 'true' });
  t.match(ephemeral.json, { commit: { sha: topic } });
  t.match((await ask(service, 'commits', { branch: 'none', ref: 'topic' })).json, { commits: [{ sha: topic }] });
  const listed = await ask(service, 'commits', { ref: 'main', ephemeral: 'true', ref_is_ephemeral: 'false' });
  t.match(listed.json, { commits: [{ sha: tip }] });
  t.match((await ask(service, 'diff', { sha: NONE, ref: 'topic', baseSha: NONE, base_ref: first })).json, {
    sha: topic,
    base_sha: first,
    files: [{ path: 'src/two.txt' }, { path: 't' }],
  });
  const based = { ref: 'main', base_ref: 'main', base_is_ephemeral: 'true' };
  t.match((await ask(service, 'diff', based)).json, { sha: tip, base_sha: topic });
  t.match(await ask(service, 'notes', { sha: NONE, object_ref: first, ref: 'none', notes_ref: 'reviews' }), {
    status: 200,
    json: { sha: first, note: 'n' },
  });
});

t.test('both names of the flag for patches that apply', async (t) => {
  const { service } = await stage(t);
  await service.commit('team/app', { 'src/one.txt': '  one\n' });
  await service.commit('team/app', { 'src/one.txt': ' one\n' });
  const files = async (flags: Record<string, string>) => (await ask(service, 'diff', { ref: 'main', ...flags })).json;
  t.match(await files({}), { stats: { changes: 0 } }, 'without it, the amount of white space makes no change');
  t.match(await files({ gitApplyCompatible: 'true' }), { stats: { changes: 2 } });
  t.match(await files({ git_apply_compatible: 'true' }), { stats: { changes: 2 } });
  t.match(await files({ gitApplyCompatible: 'true', git_apply_compatible: 'false' }), { stats: { changes: 0 } });
});

t.test('the new name of a body member takes precedence over the old one, and the response has both', async (t) => {
  const { service, first, tip, topic } = await stage(t);

  const tag = await send(service, 'POST', 'tags', { name: 'v1', target: first, ref: 'main' });
  t.match(tag, { status: 200, json: { sha: tip } });
  const unread = await send(service, 'POST', 'tags', { name: 'v2', target: 'main', ref: 'topic' });
  t.match(unread, { status: 200, json: { sha: topic } }, 'the old name is not even looked at');
  t.match(await send(service, 'POST', 'tags', { name: 'v3', target: 'main' }), { status: 400 });

  const branches = { source_branch: 'none', source_ref: 'v2', target_branch: 'main' };
  t.match(await send(service, 'POST', 'merge', { ...branches, strategy: 'ff_only' }), {
    status: 200,
    json: { result: 'fast_forward', source: { branch: 'v2', ref: 'v2', sha: topic }, target: { branch: 'main' } },
  });
  t.match(await send(service, 'DELETE', 'branches', { name: 'none', target_branch: 'topic' }), {
    status: 200,
    json: { name: 'topic', target_branch: 'topic' },
  });
  const grep = { rev: NONE, ref: 'main', query: { pattern: 'top' } };
  t.match(await send(service, 'POST', 'grep', grep), { status: 200, json: { repo: { ref: 'main', commit: topic } } });
});

t.test('notes accept every mixture of old and new names', async (t) => {
  const { service, first, tip } = await stage(t);
  const added = await send(service, 'POST', 'notes', {
    sha: NONE,
    object_ref: first,
    ref: 'none',
    notes_ref: 'notes/reviews',
    note: 'n',
  });
  const named = { target_ref: 'refs/notes/reviews', notes_ref: 'refs/notes/reviews' };
  t.match(added, { status: 201, json: { sha: first, ...named } });
  const change = { sha: first, ref: 'reviews', action: 'append', note: 'm' };
  const stale = { ...change, expected_ref_sha: added.json.new_ref_sha, expected_notes_ref_sha: tip };
  t.match(await send(service, 'POST', 'notes', stale), { status: 409, json: named });
  const current = { ...change, expected_ref_sha: tip, expected_notes_ref_sha: added.json.new_ref_sha };
  t.match(await send(service, 'POST', 'notes', current), { status: 201, json: named });
  t.match(await send(service, 'DELETE', 'notes', { object_ref: first, ref: 'reviews' }), { status: 200, json: named });
});

t.test('streamed writes and restores accept every mixture of old and new names', async (t) => {
  const { service, first, tip, topic } = await stage(t);
  const pack = (metadata: object) =>
    service.call('POST', `${REPO}/commit-pack`, { body: packBody({ n: 'n' }, metadata as Record<string, unknown>) });
  t.match(await pack({ expected_head_sha: tip, expected_target_sha: first }), { status: 409 });
  const moved = await pack({ expected_head_sha: first, expected_target_sha: tip });
  t.match(moved, { status: 201, json: { result: { branch: 'main', target_branch: 'main', old_sha: tip } } });

  const ephemeral = { target_branch: 'e', ephemeral: false, target_is_ephemeral: true, base_branch: 'topic' };
  t.equal((await pack({ ...ephemeral, ephemeral_base: true, base_is_ephemeral: false })).status, 201);
  t.equal((await ask(service, 'branch', { name: 'e' })).status, 404);
  t.equal((await ask(service, 'branch', { name: 'e', ephemeral: 'true' })).status, 200);

  const patch = 'diff --git a/p b/p\nnew file mode 100644\n--- /dev/null\n+++ b/p\n@@ -0,0 +1 @@\n+p\n';
  const metadata = { target_branch: 'e2', commit_message: 'Patch', author: ADA, base_branch: 'e', ephemeral: true };
  const patched = await service.call('POST', `${REPO}/diff-commit`, {
    body: streamed(
      { metadata: { ...metadata, ephemeral_base: false, base_is_ephemeral: true } },
      { diff_chunk: { data: Buffer.from(patch).toString('base64'), eof: true } },
    ),
  });
  t.match(patched, { status: 201, json: { result: { branch: 'e2', target_branch: 'e2' } } });

  const restore = (changes: object) =>
    send(service, 'POST', 'restore-commit', { metadata: { target_branch: 'topic', author: ADA, ...changes } });
  t.match(await restore({ base_ref: 'v-none', target_commit_sha: first }), { status: 404 });
  t.match(await restore({ base_ref: first, expected_head_sha: topic, expected_target_sha: tip }), { status: 409 });
  const mixed = { target_commit_sha: NONE, base_ref: `${tip}~1`, expected_head_sha: tip, expected_target_sha: topic };
  t.match(await restore(mixed), {
    status: 201,
    json: { commit: { target_branch: 'topic' }, result: { branch: 'topic', target_branch: 'topic', old_sha: topic } },
  });
});

t.test('file metadata of one folder, requested like newer clients do', async (t) => {
  const { service, first, tip } = await stage(t);
  const paths = (response: ServiceResponse) => response.json.files.map((file: { path: string }) => file.path);
  t.same(paths(await ask(service, 'files/metadata')), ['src/one.txt', 'src/two.txt', 'top.txt']);
  const folder = await ask(service, 'files/metadata', { path: 'src/', recursive: 'false' });
  t.same(paths(folder), ['src/one.txt', 'src/two.txt']);
  t.same(Object.keys(folder.json.commits).sort(), [first, tip].sort());
  const file = await ask(service, 'files/metadata', { path: 'top.txt' });
  t.match(file.json, { files: [{ path: 'top.txt', last_commit_sha: first }], ref: 'main' });
  t.same(Object.keys(file.json.commits), [first]);
  t.match(await ask(service, 'files/metadata', { path: 'none' }), { status: 404, json: { error: /none/ } });
});

t.test('headers, claims and members that have no effect are accepted', async (t) => {
  const { service, tip } = await stage(t);
  const headers = { 'content-type': 'application/json', 'x-client-agent': 'client/1.0' };
  const commit = await service.call('GET', `/api/v1/repos/commit?sha=${tip}`, { headers });
  t.equal(commit.status, 200, 'the type of a body that is not there');
  const archive = { headers: { ...headers, 'content-length': '0' } };
  t.equal((await service.call('POST', '/api/v1/repos/archive', archive)).status, 200, 'and its length');
  const organization = { repo: 'org', scopes: ['org:read'] };
  t.equal((await service.call('GET', '/api/v1/repos', organization)).status, 200, 'a claim that names no repository');
  await service.commit('team/app', { 'a+b c.txt': 'x' });
  t.equal((await service.call('GET', `${REPO}/file?path=a%2Bb+c.txt`)).text, 'x', 'a blank in a query is a plus');
  const json = { target_branch: 'main', base_ref: 'main', unheard_of: 1 };
  t.equal((await send(service, 'POST', 'branches/create', json)).status, 200, 'members of later generations');
});
