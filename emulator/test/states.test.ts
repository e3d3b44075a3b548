import t, { type Test } from 'tap';
import { Workbench } from '../git/test/workbench.js';
import type { StateChanges } from '../service/emulator-state.js';
import { type Service, startService } from './service.js';

const CLOCK = '2026-01-01T00:00:00Z';

async function start(t: Test): Promise<Service> {
  const service = await startService({ clock: CLOCK });
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  await service.seed('team/app');
  return service;
}

/** What one request of each kind is answered. */
async function look(service: Service): Promise<Record<string, string>> {
  const requests = {
    read: () => service.call('GET', '/api/v1/repo'),
    branches: () => service.call('GET', '/api/repos/team%2Fapp/branches'),
    metadata: () => service.call('GET', '/api/repos/team%2Fapp/files/metadata'),
    grep: () => service.call('POST', '/api/v1/repos/grep', { json: { query: { pattern: 'hello' } } }),
    write: () => service.commit('team/app', { file: String(service.emulator.clock.now()) }),
    fetch: () => service.call('GET', '/team/app.git/info/refs?service=git-upload-pack'),
  };
  const found: Record<string, string> = {};
  for (const [name, request] of Object.entries(requests)) {
    const { status, json, headers } = await request();
    const wait = headers['retry-after'] === undefined ? '' : ` after ${headers['retry-after']}`;
    found[name] = `${status}${status < 400 ? '' : ` ${json?.code ?? 'plain'}`}${wait}`;
  }
  return found;
}

const ACTIVE = { read: '200', branches: '200', metadata: '200', grep: '200', write: '201', fetch: '200' };

const STATES = {
  active: ACTIVE,
  thawing: {
    read: '409 repository_thawing after 1',
    branches: '409 repository_thawing after 1',
    metadata: '503 plain after 1',
    grep: '409 repository_thawing after 1',
    write: '409 repository_thawing after 1',
    fetch: '409 plain after 1',
  },
  syncing: {
    ...ACTIVE,
    metadata: '503 plain after 1',
    grep: '503 service_unavailable after 1',
    write: '409 sync_in_progress after 1',
  },
  deleted: {
    read: '404 repository_not_found',
    branches: '404 repository_not_found',
    metadata: '404 plain',
    grep: '404 repository_not_found',
    write: '404 repository_not_found',
    fetch: '404 plain',
  },
  no_default_branch: ACTIVE,
} as const;

t.test(
  'each state is answered in the status and dialect of the operation, and ends when it is set to another',
  async (t) => {
    const service = await start(t);
    for (const [state, answers] of Object.entries(STATES)) {
      service.emulator.state.change({ repositories: { 'team/app': { state: state as keyof typeof STATES } } });
      t.match(service.emulator.state.read().repositories['team/app'], { state });
      t.strictSame(await look(service), answers, state);
    }
    service.emulator.state.change({ repositories: { 'team/app': { state: 'archived' } } });
    t.equal((await look(service)).read, '409 repository_thawing after 1');
    t.strictSame(await look(service), ACTIVE, 'cold storage gives it back to the second request');
  },
);

t.test('a state ends after so many requests, by the clock, or by a signal', async (t) => {
  const service = await start(t);
  const { state, clock } = service.emulator;
  const set = (change: NonNullable<StateChanges['repositories']>[string]) =>
    state.change({ repositories: { 'team/app': change } });
  const read = async () => {
    const { status, headers } = await service.call('GET', '/api/v1/repo');
    return headers['retry-after'] === undefined ? status : `${status} after ${headers['retry-after']}`;
  };
  set({ state: 'thawing', ends: { requests: 3 }, retryAfter: 7 });
  t.same([await read(), await read()], ['409 after 7', '409 after 7']);
  t.match(state.read().repositories['team/app'], { state: 'thawing', ends: { requests: 1 }, retryAfter: 7 });
  t.same([await read(), await read()], ['409 after 7', 200]);
  t.same(state.read().repositories['team/app'], { state: 'active' });

  await clock.freeze();
  set({ state: 'thawing', ends: { after: 'PT30S' } });
  t.equal(await read(), '409 after 30');
  await clock.advance(29_999);
  t.equal(await read(), '409 after 1', 'the wait is what is left, in whole seconds');
  await clock.advance(1);
  t.equal(await read(), 200);

  set({ state: 'deleted', ends: { signal: 'found-again' } });
  t.equal(await read(), 404);
  t.same((await service.call('GET', '/api/repos', { repo: 'team/app' })).json.repos, [], 'lists leave it out');
});

t.test('a repository that pretends to be deleted gives way to a new one of its name', async (t) => {
  const service = await start(t);
  service.emulator.state.change({ repositories: { 'team/app': { state: 'deleted' } } });
  t.equal((await service.call('DELETE', '/api/repos/team%2Fapp')).json.code, 'repository_deleted');
  t.equal((await service.call('POST', '/api/repos')).status, 201);
  t.same((await service.call('GET', '/api/repos/team%2Fapp/branches')).json.branches, []);
});

t.test('without a default branch HEAD is detached', async (t) => {
  const service = await start(t);
  const remote = await service.remote('team/app');
  const bench = await Workbench.create();
  t.teardown(() => bench[Symbol.asyncDispose]());
  const symref = async () => /^ref: \S+/m.exec(await bench.git('.', 'ls-remote', '--symref', remote, 'HEAD'))?.[0];
  t.equal(await symref(), 'ref: refs/heads/main');
  service.emulator.state.change({
    repositories: { 'team/app': { state: 'no_default_branch', ends: { after: 'PT1H' } } },
  });
  t.equal(await symref(), undefined);
  t.equal((await service.call('GET', '/api/v1/repo')).json.default_branch, 'HEAD');
  const archive = await service.call('POST', '/api/repos/team%2Fapp/archive', { json: {} });
  t.equal(archive.status, 200, 'an archive is of HEAD then');
  t.equal((await service.commit('team/app', { more: 'text\n' })).status, 201);
  await service.emulator.clock.advance('PT1H');
  t.equal(await symref(), 'ref: refs/heads/main', 'what was written meanwhile left HEAD where it is');
});

t.test('switches of an organization end as states do', async (t) => {
  const service = await start(t);
  const { state, clock } = service.emulator;
  const code = async () => (await service.call('GET', '/api/v1/repo')).json.code;
  state.change({ organizations: { demo: { authentication: 'unavailable', ends: { requests: 2 } } } });
  t.same(
    [await code(), await code(), await code()],
    ['authentication_unavailable', 'authentication_unavailable', undefined],
  );
  state.change({ organizations: { demo: { hosting: 'off', ends: { after: '1m' } } } });
  const deploy = async () => {
    const { status, json } = await service.call('POST', '/api/repos', { repo: 'site', json: { deployment: {} } });
    return json.code ?? status;
  };
  t.equal(await deploy(), 'hosting_not_enabled');
  t.match(state.read().organizations.demo, { hosting: 'off', ends: { at: /^2026-01-01T00:01:00/ } });
  await clock.advance('1m');
  t.equal(await deploy(), 201);
  t.same(state.read().organizations.demo, {
    authentication: 'available',
    hosting: 'on',
    forgeApps: 1,
    upstream: 'reachable',
  });
});

t.test('an upstream fails as it is told to', async (t) => {
  const service = await start(t);
  const create = (repo: string) =>
    service.call('POST', '/api/repos', { repo, json: { base_repo: { provider: 'github', owner: 'a', name: 'b' } } });
  for (const [upstream, status] of [
    [{ error: 'The upstream is gone.', status: 451 }, 451],
    [{ error: 'The upstream is down.', status: 503 }, 412],
    [{ error: 'The upstream does not answer.' }, 412],
  ] as const) {
    service.emulator.state.change({ organizations: { demo: { upstream } } });
    const { json, ...answer } = await create('mirror');
    t.match(
      { status: answer.status, json },
      { status, json: { code: 'forge_repository_inaccessible', detail: upstream.error } },
    );
    t.same(service.emulator.state.read().organizations.demo!.upstream, upstream);
  }
});

t.test('limits and variants change while it runs, and go back with a reset', async (t) => {
  const service = await start(t);
  const { state } = service.emulator;
  await service.commit('team/app', { second: '2' });
  const metadata = async () => (await service.call('GET', '/api/repos/team%2Fapp/files/metadata')).status;
  t.equal(await metadata(), 200);
  state.change({ limits: { maxMetadataCommits: 1, maxJsonBytes: 10 }, variants: { restoreNoop: '412' } });
  t.equal(await metadata(), 429);
  t.equal((await service.call('POST', '/api/v1/repos/grep', { json: { query: { pattern: 'hello' } } })).status, 413);
  t.match(state.read(), {
    limits: { maxMetadataCommits: 1, maxFiles: 100_000 },
    variants: { restoreNoop: '412', thawing: 'endpoint-table' },
  });
  await service.emulator.reset();
  t.match(state.read(), { limits: { maxMetadataCommits: 100_000 }, variants: { restoreNoop: '409' } });
});

t.test('deployments take the statuses that are set, at once or by the clock', async (t) => {
  const service = await start(t);
  const { state, clock } = service.emulator;
  await clock.freeze();
  const scopes = ['deployment:write', 'deployment:read', 'repo:write'];
  await service.call('PATCH', '/api/repos/team%2Fapp', { scopes, json: { deployment: { project_name: 'site' } } });
  const { id } = (await service.call('POST', '/api/repos/team%2Fapp/deployments', { scopes, json: {} })).json;
  const show = async () => {
    const { json } = await service.call('GET', `/api/repos/team%2Fapp/deployments/${id}`, { scopes });
    return `${json.status} ${json.updated_at.slice(11, 19)}`;
  };
  t.match(await show(), /^queued 00:00:00/);
  const set = (status: 'building' | 'error' | 'canceled', after?: string) =>
    state.change({
      repositories: { 'team/app': { deployments: { [id]: after === undefined ? { status } : { status, after } } } },
    });
  set('building');
  set('error', 'PT10S');
  t.match(await show(), /^building/);
  await clock.advance('PT1H');
  t.match(await show(), /^error 00:00:10/);
  set('canceled');
  t.match(await show(), /^canceled 01:00:00/);
});

t.test('what cannot be set is refused by its name, and nothing is changed', async (t) => {
  const service = await start(t);
  const { state } = service.emulator;
  const before = state.read();
  const of = (change: object) => ({ organizations: { demo: { forgeApps: 2 } }, repositories: { 'team/app': change } });
  for (const [change, sentence] of [
    [of({ state: 'frozen' }), /repositories\.team\/app\.state/],
    [of({ state: 'thawing', ends: {} }), /ends: has to name one of/],
    [of({ state: 'thawing', ends: { requests: 1, after: 'PT1S' } }), /ends: has to name one of/],
    [of({ state: 'thawing', ends: { requests: 0 } }), /ends\.requests/],
    [of({ state: 'thawing', ends: { after: 'soon' } }), /ends\.after/],
    [of({ state: 'active', ends: { requests: 1 } }), /ends: goes with a state/],
    [of({ ends: { requests: 1 } }), /ends: goes with a state/],
    [of({ state: 'deleted', retryAfter: 3 }), /retryAfter: goes with/],
    [of({ deployments: { dpl_x: { status: 'ready' } } }), /no deployment "dpl_x"/],
    [of({ until: 1 }), /"until"/],
    [{ ...of({}), repositories: { other: { state: 'active' } } }, /no repository "other"/],
  ] as const) {
    t.throws(() => state.change(change as never), sentence);
    t.same(state.read(), before);
  }
});
