import { createHash } from 'node:crypto';
import t from 'tap';
import { GitUpstream } from '../git/git-upstream.js';
import { startAdmin } from './admin-service.js';

const HOSTING = ['git:read', 'git:write', 'repo:write', 'deployment:read', 'deployment:write'];
const BASE = '/repositories/team%2Fapp';

t.test('deployments are listed newest first, with the hosting project but not its variables', async (t) => {
  const { admin, call, seed } = await startAdmin(t);
  const commit = await seed('team/app');
  t.same((await admin('GET', `${BASE}/deployments`)).json, {
    items: [],
    project: null,
    next_cursor: null,
    has_more: false,
  });
  await call('PATCH', '/api/repos/team%2Fapp', {
    scopes: HOSTING,
    json: { deployment: { production_branch: 'live', env: { KEY: 'canary-env' } } },
  });
  const ids: string[] = [];
  for (const target of ['preview', 'production', 'preview']) {
    const json = { ref: 'main', target };
    ids.unshift((await call('POST', '/api/repos/team%2Fapp/deployments', { scopes: HOSTING, json })).json.id);
  }
  await admin('PATCH', '/state', { repositories: { 'team/app': { state: 'archived' } } });
  const first = await admin('GET', `${BASE}/deployments?limit=2`);
  t.match(first.json, {
    items: [
      { id: ids[0], target: 'preview', ref: 'main', commit_sha: commit, status: String },
      { id: ids[1], target: 'production', status: 'ready' },
    ],
    project: { project_name: String, production_branch: 'live', deploy_on_push: false },
    has_more: true,
  });
  t.notMatch(first.text, /env|canary/);
  const rest = await admin('GET', `${BASE}/deployments?cursor=${first.json.next_cursor}`);
  t.match(rest.json, { items: [{ id: ids[2] }], has_more: false });
});

t.test('LFS objects are listed newest first with their sum, and locks by path', async (t) => {
  const { admin, call, seed, emulator } = await startAdmin(t);
  await seed('team/app');
  const empty = { items: [], next_cursor: null, has_more: false };
  t.same((await admin('GET', `${BASE}/lfs/objects`)).json, { ...empty, total: 0, total_bytes: 0 });
  t.same((await admin('GET', `${BASE}/lfs/locks`)).json, empty);
  const oids: string[] = [];
  for (const content of ['a', 'bb', 'ccc']) {
    const oid = createHash('sha256').update(content).digest('hex');
    oids.unshift(oid);
    t.equal((await call('PUT', `/team%2Fapp.git/info/lfs/objects/${oid}`, { body: content })).status, 200);
    await emulator.clock.advance('PT1M');
  }
  for (const path of ['z.bin', 'a.bin']) {
    const headers = { 'content-type': 'application/vnd.git-lfs+json' };
    const json = { path };
    t.equal((await call('POST', '/team%2Fapp.git/info/lfs/locks', { json, headers })).status, 201);
  }
  const first = (await admin('GET', `${BASE}/lfs/objects?limit=2`)).json;
  t.match(first, {
    items: [
      { oid: oids[0], size: 3, stored_at: /^2026-01-01T00:02:/ },
      { oid: oids[1], size: 2, stored_at: /^2026-01-01T00:01:/ },
    ],
    total: 3,
    total_bytes: 6,
    has_more: true,
  });
  const rest = (await admin('GET', `${BASE}/lfs/objects?cursor=${first.next_cursor}`)).json;
  t.match(rest, { items: [{ oid: oids[2], size: 1 }], total: 3, has_more: false });
  const locks = (await admin('GET', `${BASE}/lfs/locks`)).json.items;
  t.match(locks, [
    { path: 'a.bin', owner: String, locked_at: /^2026-01-01T00:03:/ },
    { path: 'z.bin', id: String },
  ]);
  t.same(Object.keys(locks[0]).sort(), ['id', 'locked_at', 'owner', 'path']);
  const { next_cursor: cursor } = (await admin('GET', `${BASE}/lfs/locks?limit=1`)).json;
  t.match((await admin('GET', `${BASE}/lfs/locks?cursor=${cursor}`)).json, { items: [{ path: 'z.bin' }] });
});

t.test('a sync is shown while it runs and after it has ended', async (t) => {
  const upstream = await GitUpstream.start();
  t.teardown(() => upstream[Symbol.asyncDispose]());
  const { admin, call, seed, service } = await startAdmin(t, { upstreamHost: { gitea: upstream.origin } });
  const { syncs } = service.world.background;
  await seed('team/app');
  const none = { upstream: null, runs: 0, running_since: null, last: null };
  t.same((await admin('GET', `${BASE}/sync`)).json, none);
  let release = (_status: number) => {};
  upstream.answer = () =>
    new Promise((resolve) => {
      release = resolve;
    });
  const base_repo = { provider: 'gitea', owner: 'acme', name: 'app', upstream_host: 'git.example' };
  t.equal((await call('POST', '/api/repos', { repo: 'mirror', json: { base_repo } })).status, 201);
  const sync = async () => (await admin('GET', '/repositories/mirror/sync')).json;
  const shown = { provider: 'gitea', owner: 'acme', name: 'app', host: 'git.example', access: 'credential' };
  t.match(await sync(), { upstream: shown, runs: 0, running_since: /^2026-01-01T/, last: null });
  while (upstream.seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  release(404);
  await syncs.idle();
  t.match(await sync(), {
    runs: 1,
    running_since: null,
    last: { outcome: 'failed', started_at: /^2026-01-01T/, completed_at: /^2026-01-01T/, error: /status 404/ },
  });
  const { repositories } = service.world.state;
  const found = repositories.find('demo', 'mirror')!;
  const finished = { startedAt: 1_767_225_600_000, completedAt: 1_767_225_660_000 };
  found.update({ baseRepo: { ...found.record.baseRepo!, lastSync: finished } });
  t.same((await sync()).last, {
    outcome: 'succeeded',
    started_at: '2026-01-01T00:00:00.000Z',
    completed_at: '2026-01-01T00:01:00.000Z',
  });
  t.equal((await call('DELETE', '/api/repos/mirror/base', { repo: 'mirror' })).status, 200);
  t.same(await sync(), none);
});

t.test('parts of a repository that does not exist are not found', async (t) => {
  const { admin } = await startAdmin(t);
  for (const part of ['deployments', 'lfs/objects', 'lfs/locks', 'sync'])
    t.match(await admin('GET', `/repositories/none/${part}`), { status: 404, json: { code: 'not_found' } }, part);
});
