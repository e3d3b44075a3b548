import t, { type Test } from 'tap';
import { startService } from '../service.js';

async function stage(t: Test) {
  const service = await startService({ clock: Date.parse('2026-01-01T00:00:00Z') });
  t.teardown(() => service.emulator.close());
  return service;
}

t.test('creating a repository returns its remote', async (t) => {
  const service = await stage(t);
  for (const [repo, path] of [
    ['team/app', 'team/app'],
    ['ä b/c#d', '%C3%A4%20b/c%23d'],
  ] as const) {
    const { json } = await service.call('POST', '/api/repos', { repo });
    t.equal(json.http_url, `${service.emulator.gitUrl}/${path}.git`);
    const { pathname } = new URL(json.http_url);
    t.equal((await service.call('GET', `${pathname}/info/refs?service=git-upload-pack`, { repo })).status, 200, repo);
  }
});

t.test('changing the default branch also changes HEAD', async (t) => {
  const service = await stage(t);
  await service.seed('team/app');
  const { commit } = (
    await service.commit('team/app', { 'n.txt': 'n' }, { target_branch: 'next', base_branch: 'main' })
  ).json;
  const patch = (json: object) => service.call('PATCH', '/api/repos/team%2Fapp', { json });
  t.match(await patch({ default_branch: 'next' }), {
    status: 200,
    json: { repo_name: 'team/app', default_branch: 'next' },
  });
  t.match((await service.call('GET', '/api/v1/repos/commit?sha=HEAD')).json, { commit: { sha: commit.commit_sha } });
  t.equal((await service.call('GET', '/api/v1/repos/file?path=n.txt')).text, 'n');
  t.match(await patch({ default_branch: 'none' }), { status: 404, json: { code: 'branch_not_found' } });
  t.match(await patch({}), { status: 400, json: { code: 'bad_request' } });
  t.match(await patch({ default_branch: 'refs/heads/next' }), { status: 400 });
  t.equal((await service.call('PATCH', '/api/v1/repo')).status, 400);
});

t.test('a repository has one Git credential, and no response contains its password', async (t) => {
  const service = await stage(t);
  await service.seed('team/app');
  await service.seed('other');
  const base = '/api/repos/team%2Fapp/git-credentials';
  const legacy = '/api/v1/repos/git-credentials';
  const create = (json: object, target = base) => service.call('POST', target, { json });
  const created = await create({ username: 'ada', password: 'canary-1' });
  t.match(created, { status: 201, json: { id: /^ggc_/, created_at: String } });
  t.match(await create({ password: 'x' }), { status: 409, json: { code: 'credential_exists' } });
  for (const bad of [{}, { password: '' }, { password: 'a\n' }, { username: 'a:b', password: 'x' }]) {
    t.match(await create(bad), { status: 400 }, JSON.stringify(bad));
  }
  const { id } = created.json;
  const put = await service.call('PUT', `${base}/${id}`, { json: { password: 'canary-2' } });
  t.match(put, { status: 200, json: { id } });
  t.match(service.world.state.repositories.find('demo', 'team/app')!.record.gitCredential, {
    username: 'ada',
    password: 'canary-2',
  });
  const missing = { status: 404, json: { code: 'credential_not_found' } };
  t.match(await service.call('PUT', `${base}/ggc_none`, { json: { password: 'x' } }), missing);
  t.match(await service.call('DELETE', `/api/repos/other/git-credentials/${id}`, { repo: 'other' }), missing);

  const organization = { repo: 'org' };
  t.match(
    await service.call('PUT', legacy, { repo: 'other', json: { id, password: 'x' } }),
    missing,
    'of another repository',
  );
  t.equal((await service.call('PUT', legacy, { ...organization, json: { id, password: 'canary-3' } })).status, 200);
  t.match(await service.call('DELETE', legacy, { ...organization, json: { id: 'ggc_none' } }), missing);
  service.world.state.repositories.find('demo', 'team/app')!.update({ state: 'thawing' });
  t.match(await service.call('DELETE', legacy, { ...organization, json: { id } }), {
    status: 409,
    json: { code: 'repository_thawing' },
  });
  service.world.state.repositories.find('demo', 'team/app')!.update({ state: 'active' });
  const gone = await service.call('DELETE', legacy, { ...organization, json: { id } });
  t.match(gone, { status: 204, text: '' });
  t.match(await service.call('DELETE', `${base}/${id}`), missing);
  const { repo_id } = (await service.call('GET', '/api/v1/repo')).json;
  for (const name of ['team/app', repo_id]) {
    const next = await create({ repo_id: name, password: 'canary-4' }, legacy);
    t.equal(next.status, 201);
    t.equal((await service.call('DELETE', `${base}/${encodeURIComponent(next.json.id)}`)).status, 204);
  }
  t.match(await create({ repo_id: 'other', password: 'x' }, legacy), { status: 404 });
  const said = [created, put, gone].map(({ text }) => text).join('') + JSON.stringify(service.emulator.requests());
  t.notMatch(said, /canary/);
});

t.test('a fork starts with the content of its source and changes independently', async (t) => {
  const service = await stage(t);
  const first = await service.seed('team/app', { 'a.txt': '1\n' });
  const second = (await service.commit('team/app', { 'a.txt': '2\n' })).json.commit.commit_sha;
  const token = await service.token({ repo: 'team/app', scopes: ['git:read'] });
  const base = { provider: 'code', owner: 'demo', name: 'team/app', operation: 'fork', auth: { token } };
  const fork = (repo: string, more: object = {}, rest: object = {}) =>
    service.call('POST', '/api/repos', { repo, json: { base_repo: { ...base, ...more }, ...rest } });
  const tipOf = async (repo: string) => (await service.call('GET', '/api/v1/repos/commits', { repo })).json.commits;

  const made = await fork('fork');
  t.match(made, { status: 201, json: { default_branch: 'main', repo_name: 'fork' } });
  t.notOk('base_repo' in made.json, 'no link to the source is kept');
  t.match(await tipOf('fork'), [{ sha: second }, { sha: first }]);
  await fork('at-sha', { sha: first, ref: 'main' });
  t.match(await tipOf('at-sha'), [{ sha: first }], 'sha wins over ref');
  t.match(await fork('named', { ref: 'main~1', default_branch: 'trunk' }), { json: { default_branch: 'trunk' } });
  t.match(await tipOf('named'), [{ sha: first }]);
  t.equal((await service.commit('fork', { 'b.txt': 'b' })).status, 201);
  t.match(await tipOf('team/app'), [{ sha: second }, { sha: first }]);

  const empty = await service.call('POST', '/api/repos', { repo: 'empty', json: { default_branch: 'dev' } });
  t.equal(empty.status, 201);
  const emptyToken = await service.token({ repo: 'empty', scopes: ['git:read'] });
  t.match(await fork('empty-fork', { name: 'empty', auth: { token: emptyToken } }), {
    status: 201,
    json: { default_branch: 'dev' },
  });

  const snapshot = { provider: 'code.storage', operation: 'snapshot', ref: 'main~1' };
  const initial_commit = { message: 'Start', author: { name: 'Ada', email: 'ada@example.com' } };
  t.equal((await fork('snap', snapshot, { initial_commit })).status, 201);
  t.match(await tipOf('snap'), [{ message: 'Start', author_name: 'Ada', parent_shas: [] }]);
  t.equal((await service.call('GET', '/api/v1/repos/file?path=a.txt', { repo: 'snap' })).text, '1\n');
  t.equal((await fork('snap-2', snapshot)).status, 201);

  const refused: [object, number, string][] = [
    [{ ref: 'none' }, 404, 'ref_not_found'],
    [{ sha: '1'.repeat(40) }, 404, 'ref_not_found'],
    [{ name: 'fork' }, 404, 'repository_not_found'],
    [{ auth: { token: `${token}x` } }, 403, 'forbidden'],
    [{ auth: { token: await service.token({ repo: 'team/app', scopes: ['git:write'] }) } }, 403, 'insufficient_scope'],
    [{ name: 'none', auth: { token: await service.token({ repo: 'none' }) } }, 404, 'repository_not_found'],
  ];
  for (const [more, status, code] of refused) {
    const response = await fork('refused', more);
    t.match(response, { status, json: { code } }, JSON.stringify(more).slice(0, 40));
    t.notOk(response.headers['www-authenticate']);
  }
  t.match(await fork('snap', snapshot), { status: 409, json: { code: 'conflict' } });
  t.match(await fork('bad-message', snapshot, { initial_commit: { message: ' ' } }), { status: 400 });
  t.equal((await service.call('GET', '/api/repos/bad-message', { repo: 'bad-message' })).status, 404);
});
