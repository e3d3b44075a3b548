import t, { type Test } from 'tap';
import { Workbench } from '../../git/test/workbench.js';
import type { StateChanges } from '../../library/state.js';
import { type Service, startService } from '../service.js';

const CLOCK = '2026-01-01T00:00:00Z';

async function start(t: Test): Promise<Service> {
  const service = await startService({ clock: CLOCK });
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  await service.seed('team/app');
  return service;
}

/**
 * Sends one request of each kind to the repository, such as a read or a write. Returns for each kind one text with the
 * status, the error code and `Retry-After`.
 */
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
  'each state is refused with the status and error format of the operation, and ends when another state is set',
  async (t) => {
    const service = await start(t);
    for (const [state, responses] of Object.entries(STATES)) {
      service.emulator.state.change({ repositories: { 'team/app': { state: state as keyof typeof STATES } } });
      t.match(service.emulator.state.read().repositories['team/app'], { state });
      t.strictSame(await look(service), responses, state);
    }
    service.emulator.state.change({ repositories: { 'team/app': { state: 'archived' } } });
    t.strictSame(await look(service), STATES.thawing);
    t.match(service.emulator.state.read().repositories['team/app'], { state: 'thawing', ends: { at: /Z$/ } });
    await service.emulator.clock.advance(1_000);
    t.strictSame(await look(service), ACTIVE, 'cold storage gives it back when the thaw is over');
  },
);

t.test('a thaw starts with the first refused request, and ends like other states', async (t) => {
  const service = await start(t);
  const { emulator } = service;
  const { state, clock } = emulator;
  await clock.freeze();
  const archive = (change: object = {}) =>
    state.change({ repositories: { 'team/app': { state: 'archived', ...change } } });
  const shown = () => state.read().repositories['team/app'];
  const read = async () => {
    const { status, headers } = await service.call('GET', '/api/v1/repo');
    return headers['retry-after'] === undefined ? status : `${status} after ${headers['retry-after']}`;
  };
  archive();
  await clock.advance('PT1H');
  t.same([await read(), await read()], ['409 after 1', '409 after 1'], 'nothing thaws while the clock stands');
  await clock.advance(999);
  t.equal(await read(), '409 after 1');
  await clock.advance(1);
  t.equal(await read(), 200);

  archive({ retryAfter: 5 });
  t.strictSame(shown(), { state: 'archived', retryAfter: 5 });
  t.equal(await read(), '409 after 5');
  await clock.advance(4_999);
  t.equal(await read(), '409 after 5');
  await clock.advance(1);
  t.equal(await read(), 200, 'who waits as long as it was told is served');

  archive({ ends: { after: 'PT30S' } });
  t.strictSame(shown(), { state: 'archived', ends: { after: 30_000 } });
  await clock.advance('PT1M');
  t.equal(await read(), '409 after 30');
  await clock.advance('PT20S');
  t.equal(await read(), '409 after 10');
  await clock.advance('PT10S');
  t.equal(await read(), 200);

  archive({ ends: { after: 'PT30S' }, retryAfter: 7 });
  t.same([await read(), await read()], ['409 after 7', '409 after 7']);
  archive({ ends: { requests: 2 } });
  t.same([await read(), await read(), await read()], ['409 after 1', '409 after 1', 200]);
  archive({ ends: { signal: 'warm' } });
  t.same([await read(), await read()], ['409 after 1', '409 after 1']);
  t.equal(emulator.release('warm'), 1);
  t.equal(await read(), 200);
  archive({ ends: { signal: 'warm' } });
  t.equal(emulator.release('warm'), 1, 'also before the thaw has begun');
  t.equal(await read(), 200);

  archive({ ends: { after: 'PT30S' } });
  const cold = await emulator.snapshot();
  t.equal(await read(), '409 after 30');
  const begun = await emulator.snapshot();
  await clock.advance('PT30S');
  t.equal(await read(), 200);
  await emulator.restore(begun);
  t.equal(await read(), '409 after 30');
  await emulator.restore(cold);
  t.equal(shown()!.state, 'archived');
  archive();
  t.strictSame(shown(), { state: 'archived' }, 'the last setting counts');
  state.change({ repositories: { 'team/app': { state: 'thawing', ends: { requests: 1 } } } });
  t.same([await read(), await read()], ['409 after 1', 200], 'also over cold storage');
});

t.test('a state that ends after a number of requests counts only the requests that it refuses', async (t) => {
  const service = await start(t);
  const { state } = service.emulator;
  const left = () => state.read().repositories['team/app']!.ends?.requests;
  const read = async () => (await service.call('GET', '/api/v1/repo')).status;
  const write = async () => (await service.commit('team/app', { file: 'x' })).status;
  state.change({ repositories: { 'team/app': { state: 'syncing', ends: { requests: 2 } } } });
  t.same([await read(), await read(), left()], [200, 200, 2], 'a sync refuses no reads');
  t.same([await write(), left(), await read(), left()], [409, 1, 200, 1]);
  t.same([await write(), left(), await write()], [409, undefined, 201]);
  t.equal((await service.call('GET', '/api/v1/repo', { token: null })).status, 401);
  state.change({
    repositories: { 'team/app': { state: 'syncing', ends: { requests: 1 } } },
    variants: { syncBlocks: 'all' },
  });
  t.equal((await service.call('GET', '/api/v1/repo', { token: null })).status, 401);
  t.equal(left(), 1, 'what is refused before the state is not refused by it');
  t.same([await read(), await read()], [409, 200]);
  state.change({ repositories: { 'team/app': { state: 'no_default_branch', ends: { requests: 2 } } } });
  t.same([await read(), left(), await read(), left()], [200, 1, 200, undefined], 'a detached HEAD meets every request');
});

t.test(
  'an organization switch that ends after a number of requests counts only the requests that it refuses',
  async (t) => {
    const service = await start(t);
    const { state } = service.emulator;
    const left = () => state.read().organizations.demo!.ends?.requests;
    const set = (changes: object) => state.change({ organizations: { demo: { ...changes, ends: { requests: 2 } } } });
    const code = async (method: string, target: string, options = {}) => {
      const { status, json } = await service.call(method, target, options);
      return json?.code ?? status;
    };
    const read = (options = {}) => code('GET', '/api/v1/repo', options);
    const create = (repo: string, json: object) => code('POST', '/api/repos', { repo, json });
    const github = (access: object = {}) => ({ base_repo: { provider: 'github', owner: 'a', name: 'b', ...access } });

    set({ hosting: 'off' });
    t.same([await read(), left()], [200, 2]);
    t.same([await create('site', { deployment: {} }), left()], ['hosting_not_enabled', 1]);
    const fault = { headers: { 'x-emulator-fault': 'hosting_not_enabled' }, repo: 'site', json: {} };
    t.same([await code('POST', '/api/repos', fault), left()], ['hosting_not_enabled', 1], 'a fault is no state');
    t.same([await read({ scopes: ['deployment:read'] }), left()], ['forbidden', undefined], 'its scopes are unknown');
    t.equal(await create('site', { deployment: {} }), 201);

    set({ forgeApps: 0 });
    t.same([await read(), left()], [200, 2]);
    t.same([await create('mirror', github()), left()], ['forge_app_not_configured', 1]);

    set({ upstream: { error: 'The upstream is down.' } });
    t.same([await read(), left()], [200, 2]);
    const open = github({ auth: { auth_type: 'public' } });
    t.same([await create('mirror', open), left()], ['forge_repository_inaccessible', 1]);

    set({ authentication: 'unavailable' });
    t.same(
      [await read(), left(), await read(), left()],
      ['authentication_unavailable', 1, 'authentication_unavailable', undefined],
    );
  },
);

t.test('a state ends after a number of requests, at a time on the clock, or when a latch is released', async (t) => {
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

t.test('a new repository may take the name of one in the state deleted', async (t) => {
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

t.test('switches of an organization end like states', async (t) => {
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

t.test('an upstream fails in the way that is set', async (t) => {
  const service = await start(t);
  const create = (repo: string) =>
    service.call('POST', '/api/repos', { repo, json: { base_repo: { provider: 'github', owner: 'a', name: 'b' } } });
  for (const [upstream, status] of [
    [{ error: 'The upstream is gone.', status: 451 }, 451],
    [{ error: 'The upstream is down.', status: 503 }, 412],
    [{ error: 'The upstream does not answer.' }, 412],
  ] as const) {
    service.emulator.state.change({ organizations: { demo: { upstream } } });
    const { json, ...response } = await create('mirror');
    t.match(
      { status: response.status, json },
      { status, json: { code: 'forge_repository_inaccessible', detail: upstream.error } },
    );
    t.same(service.emulator.state.read().organizations.demo!.upstream, upstream);
  }
});

t.test('limits and variants change while the service runs, and a reset restores them', async (t) => {
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

t.test('deployments get the statuses that are set, immediately or at a time on the clock', async (t) => {
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

t.test('an invalid change is refused with the name of the member, and nothing changes', async (t) => {
  const service = await start(t);
  const { state } = service.emulator;
  const before = state.read();
  const of = (change: object) => ({ organizations: { demo: { forgeApps: 2 } }, repositories: { 'team/app': change } });
  for (const [change, sentence] of [
    [of({ state: 'frozen' }), /repositories\.team\/app\.state/],
    [of({ state: 'thawing', ends: {} }), /ends: must have exactly one of/],
    [of({ state: 'thawing', ends: { requests: 1, after: 'PT1S' } }), /ends: must have exactly one of/],
    [of({ state: 'thawing', ends: { requests: 0 } }), /ends\.requests/],
    [of({ state: 'thawing', ends: { after: 'soon' } }), /ends\.after/],
    [of({ state: 'active', ends: { requests: 1 } }), /ends: is allowed only together with a state/],
    [of({ ends: { requests: 1 } }), /ends: is allowed only together with a state/],
    [of({ state: 'archived', ends: { requests: 0 } }), /ends\.requests/],
    [of({ state: 'archived', retryAfter: -1 }), /retryAfter/],
    [of({ state: 'deleted', retryAfter: 3 }), /retryAfter: is allowed only with/],
    [of({ deployments: { dpl_x: { status: 'ready' } } }), /the repository has no deployment "dpl_x"/],
    [of({ until: 1 }), /"until"/],
    [{ ...of({}), repositories: { other: { state: 'active' } } }, /repository "other" does not exist/],
  ] as const) {
    t.throws(() => state.change(change as never), sentence);
    t.same(state.read(), before);
  }
});
