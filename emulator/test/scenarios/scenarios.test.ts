import t from 'tap';
import { startAdmin } from '../admin/admin-service.js';

const THAWING = { state: 'thawing', ends: { requests: 1 } };

t.test('a registered scenario applies to requests that name it, a started one to all', async (t) => {
  const { admin, call, seed, token } = await startAdmin(t);
  await seed('r');
  const read = (headers = {}) => call('GET', '/api/v1/repo', { repo: 'r', headers });
  const scenario = {
    id: 'story',
    state: { repositories: { r: THAWING, later: THAWING } },
    faults: [
      'latency@accept;ms=1',
      'bad_gateway*2',
      { spec: 'internal_error*1', id: 'own', match: { op: 'getRepository' } },
    ],
    expect: { requests: [{ match: { status: 409 }, count: 1 }] },
  };
  t.match(await admin('POST', '/scenarios', scenario), {
    status: 201,
    json: { id: 'story', started: false, faults: ['story.2', 'own'], waiting: [], steps: 0 },
  });
  t.match(await admin('POST', '/scenarios', scenario), { status: 409, json: { code: 'conflict', detail: /story/ } });
  t.equal((await read()).status, 200, 'the scenario does not affect other requests');
  t.match(await read({ 'x-emulator-scenario': 'story' }), {
    status: 502,
    headers: { 'x-emulator-fault-fired': 'story.2' },
  });
  t.equal((await read({ 'x-emulator-scenario': 'other' })).status, 200);
  const named = await token({ repo: 'r', claims: { emu: { scenario: 'story' } } });
  t.equal(
    (await call('GET', '/api/v1/repo', { repo: 'r', token: named })).status,
    502,
    'a token can name the scenario',
  );

  t.match(await admin('POST', '/scenarios/story/start'), { status: 200, json: { started: true, waiting: ['later'] } });
  t.match(await admin('POST', '/scenarios/story/start'), { status: 409 });
  t.match((await admin('GET', '/scenarios/story')).json, { verification: { met: false }, definition: { id: 'story' } });
  t.match((await admin('GET', '/scenarios/story')).json, { after: /^req-/, expectations: [{ met: false }] });
  const statuses: number[] = [];
  for (let time = 0; time < 5; time++) statuses.push((await read()).status);
  t.same(statuses, [409, 502, 502, 500, 200]);
  t.match((await admin('GET', '/scenarios/story')).json, {
    verification: { met: true },
    expectations: [{ met: true }],
  });
  t.match((await admin('GET', '/scenarios')).json.items, [{ id: 'story', started: true }]);
  t.equal((await admin('DELETE', '/scenarios/story')).status, 204);
  t.equal((await admin('DELETE', '/scenarios/story')).status, 404);
  t.equal((await admin('POST', '/scenarios/story/start')).status, 404);
  t.equal((await admin('GET', '/scenarios/story')).status, 404);
  t.same((await admin('GET', '/faults')).json.items, [], 'the faults of the scenario are removed');
  t.equal((await read()).status, 200);
});

t.test('every verification includes the expectations of started scenarios', async (t) => {
  const { admin, call, seed, emulator } = await startAdmin(t);
  await seed('r');
  const read = () => call('GET', '/api/v1/repo', { repo: 'r' });
  await read();
  const scenario = {
    id: 'story',
    faults: ['bad_gateway*1'],
    expect: {
      requests: [
        { match: { operation: 'getRepository', status: 502 }, count: 1 },
        { match: { status: 200 }, never: true },
      ],
      faults: { everyFired: true },
      client: ['retry-after'],
    },
  };
  const verify = async () => {
    const { status, json } = await admin('POST', '/verify', {});
    t.equal(status, 200);
    t.strictSame(JSON.parse(JSON.stringify(emulator.verify())), json, 'the library returns the same');
    return [json.met, json.unmet.map(({ at }: { at: string }) => at)];
  };
  await admin('POST', '/scenarios', scenario);
  t.strictSame(await verify(), [true, []], 'a registered scenario expects nothing');
  await admin('POST', '/scenarios/story/start');
  t.strictSame(
    await verify(),
    [false, ['scenarios.story.requests.0', 'faults.story.1']],
    'requests before the start do not count',
  );
  t.match(
    (await admin('POST', '/verify', { faults: { everyFired: true } })).json.unmet,
    { length: 2 },
    'each fault is reported once',
  );
  t.equal((await read()).status, 502);
  t.strictSame(await verify(), [true, []]);
  await admin('POST', '/faults', { spec: 'bad_gateway*1' });
  t.strictSame(await verify(), [true, []], 'faults that the scenario did not add are ignored');
  t.equal((await read()).status, 502);
  t.strictSame(await verify(), [false, ['scenarios.story.requests.0']]);
  t.match((await admin('GET', '/scenarios/story')).json.verification, { met: false, unmet: [{ at: 'requests.0' }] });
  await using namespace = await emulator.namespace();
  t.match(namespace.verify(), { met: true }, 'another world has its own scenarios');
  await admin('DELETE', '/scenarios/story');
  t.strictSame(await verify(), [true, []]);
});

t.test('every verification includes client rules of started scenarios, and what faults expect', async (t) => {
  const { admin, call, seed } = await startAdmin(t);
  await seed('r');
  const read = (fault?: string) =>
    call('GET', '/api/v1/repo', { repo: 'r', ...(fault !== undefined && { headers: { 'x-emulator-fault': fault } }) });
  const verify = async (body = {}) => (await admin('POST', '/verify', body)).json;
  await admin('POST', '/scenarios', { id: 'polite', expect: { client: ['retry-after'] }, start: true });
  t.match(await verify(), { met: true });
  await read('rate_limited*1;retry-after=9');
  await read('rate_limited*1;retry-after=9');
  t.match(await verify(), {
    met: false,
    unmet: [{ at: 'scenarios.polite.client.retry-after', expectation: 'retry-after', found: 1, detail: /req-.*9 s/ }],
    client: [],
  });
  await admin('DELETE', '/scenarios/polite');
  t.match(await verify(), { met: true });
  await admin('POST', '/faults', { id: 'twice', spec: 'conflict*2', expect: { fired: 2 } });
  await admin('POST', '/faults', { id: 'free', spec: 'not_implemented*1' });
  t.match(await verify(), {
    met: false,
    unmet: [{ at: 'faults.twice', found: 0, detail: /fired 0 times, but should fire 2/ }],
  });
  await read();
  t.match(await verify({ requests: [] }), { met: false, unmet: [{ at: 'faults.twice', found: 1 }] });
  await read();
  t.match(await verify(), { met: true, unmet: [] });
});

t.test('the state of a repository that does not exist yet is applied when it is created', async (t) => {
  const { admin, call, seed } = await startAdmin(t);
  await seed('old/a');
  const states = { 'old/*': { state: 'archived' }, 'new/*': THAWING, one: THAWING };
  await admin('POST', '/scenarios', { id: 's', state: { repositories: states }, start: true });
  t.match((await admin('GET', '/state')).json.repositories, { 'old/a': { state: 'archived' } });
  for (const repo of ['one', 'new/a', 'new/b', 'old/b', 'two']) {
    t.equal((await call('POST', '/api/repos', { repo })).status, 201, repo);
  }
  t.match((await admin('GET', '/state')).json.repositories, {
    one: { state: 'thawing' },
    'new/a': { state: 'thawing' },
    'new/b': { state: 'thawing' },
    'old/b': { state: 'archived' },
    two: { state: 'active' },
  });
  t.same((await admin('GET', '/scenarios/s')).json.waiting, ['old/*', 'new/*'], 'a pattern stays in waiting');
});

t.test('steps are triggered by requests and by the clock', async (t) => {
  const { admin, call, seed, commit, emulator } = await startAdmin(t);
  await seed('r');
  await seed('other');
  const state = async () => (await admin('GET', '/state')).json.repositories.r.state;
  const scenario = {
    id: 's',
    start: true,
    steps: [
      { on: 'push to main', repository: { state: 'syncing' } },
      { after: 'PT5S', repository: { state: 'active' }, faults: ['bad_gateway*1'] },
      {
        on: { op: 'getRepository', status: '5xx', times: 1 },
        after: '1s',
        clock: { advance: 'PT1H' },
        release: 'door',
      },
      { on: { op: 'get*', repo: 'r', status: [200] }, quotas: { q: { capacity: 1, refill: '1/h' } } },
    ],
  };
  t.match(await admin('POST', '/scenarios', scenario), { status: 201, json: { steps: 4, steps_done: 0, due: null } });
  await call('POST', '/api/v1/repos/commit-pack', { repo: 'r', body: 'x' });
  t.equal(await state(), 'active', 'a request that moves no ref does not trigger the step');
  t.equal((await commit('r', { a: 'a' }, { target_branch: 'main' })).status, 201);
  t.equal(await state(), 'syncing');
  t.match((await admin('GET', '/scenarios/s')).json, { steps_done: 1, due: /Z$/ });
  await emulator.clock.advance(4_000);
  t.equal(await state(), 'syncing');
  await emulator.clock.advance(1_000);
  t.equal(await state(), 'active');
  const before = emulator.clock.now();
  const read = async () => (await call('GET', '/api/v1/repo', { repo: 'r' })).status;
  t.same([await read(), await read()], [502, 200]);
  t.ok(emulator.clock.now() - before < 10_000);
  await emulator.clock.advance(1_000);
  t.ok(emulator.clock.now() - before > 3_600_000, 'the step advanced the clock');
  t.same([await read(), await read(), await read()], [200, 200, 429]);
  t.match((await admin('GET', '/scenarios/s')).json, { steps_done: 4, due: null, problems: [] });
});

t.test('a failed start has no effect, and the scenario can be started later', async (t) => {
  const { admin, call, seed } = await startAdmin(t);
  await seed('r');
  const deployments = { nothing: { status: 'ready' } };
  const scenario = { id: 's', faults: ['bad_gateway'], quotas: { q: { capacity: 1, refill: '1/h' } } };
  const wrong = { ...scenario, state: { repositories: { r: { deployments } } } };
  t.match(await admin('POST', '/scenarios', { ...wrong, start: true }), { status: 400, json: { detail: /nothing/ } });
  t.same((await admin('GET', '/scenarios')).json.items, []);
  t.equal((await admin('POST', '/scenarios', wrong)).status, 201);
  t.match(await admin('POST', '/scenarios/s/start'), { status: 400, json: { detail: /nothing/ } });
  t.match((await admin('GET', '/scenarios/s')).json, { started: false, faults: ['s.1'] });
  t.same((await admin('GET', '/quotas')).json.quotas, {});
  const named = { 'x-emulator-scenario': 's' };
  t.equal((await call('GET', '/api/v1/repo', { repo: 'r' })).status, 200);
  t.equal(
    (await call('GET', '/api/v1/repo', { repo: 'r', headers: named })).status,
    502,
    'the scenario is still registered',
  );
});

t.test('a failed step is reported, and the next step runs', async (t) => {
  const { admin, call, seed } = await startAdmin(t);
  await seed('r');
  const gone = { repository: { state: 'archived' } };
  const steps = [{ on: { op: 'deleteRepository' }, ...gone }, { faults: ['bad_gateway*1'] }];
  await admin('POST', '/scenarios', { id: 's', start: true, steps });
  t.equal((await call('DELETE', '/api/repos/r', { repo: 'r' })).status, 200);
  t.match((await admin('GET', '/scenarios/s')).json, { steps_done: 2, problems: [/steps\.0\.repository: .*"r"/] });
  t.equal((await call('GET', '/api/repos')).status, 502);
});

t.test('a snapshot contains the progress of scenarios', async (t) => {
  const { admin, commit, seed, emulator } = await startAdmin(t);
  await seed('r');
  const steps = [
    { on: 'push to main', repository: { state: 'syncing' } },
    { after: 'PT5S', repository: { state: 'active' } },
  ];
  await admin('POST', '/scenarios', { id: 's', start: true, steps });
  await commit('r', { a: 'a' });
  const kept = await emulator.snapshot();
  const state = () => emulator.state.read().repositories.r!.state;
  await emulator.clock.advance('PT5S');
  t.equal(state(), 'active');
  for (let time = 0; time < 2; time++) {
    await emulator.restore(kept);
    t.equal(state(), 'syncing');
    await emulator.clock.advance('PT5S');
    t.equal(state(), 'active', 'the pending step ran');
  }
  await using fork = await emulator.namespace({ snapshot: kept });
  await fork.clock.advance('PT5S');
  t.equal(fork.state.read().repositories.r!.state, 'active');
  await emulator.reset();
  t.same((await admin('GET', '/scenarios')).json.items, []);
});

t.test('an invalid scenario, or one that could never have an effect, is 400 with the name of the member', async (t) => {
  const { admin } = await startAdmin(t);
  const patterns = Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`a${n}*`, THAWING]));
  const rows: readonly (readonly [scenario: object, detail: RegExp])[] = [
    [{}, /id/],
    [{ id: 'a b' }, /^id: must be a name/],
    [{ id: 's', color: 'red' }, /"color"/],
    [{ id: 's', start: 'yes' }, /^start/],
    [{ id: 's', clock: 'noon' }, /^clock must be real/],
    [{ id: 's', clock: { mode: 'slow' } }, /^clock\.mode/],
    [
      { id: 's', state: { organizations: { nobody: {} } } },
      /^state\.organizations: the organization nobody does not exist.*demo/,
    ],
    [{ id: 's', state: { repositories: { r: { state: 'asleep' } } } }, /^state\.repositories\.r\.state/],
    [{ id: 's', state: { repositories: patterns } }, /^state\.repositories has 101 names .* at most 100/],
    [{ id: 's', quotas: { q: { capacity: 0, refill: '1/s' } } }, /^quotas\.q\.capacity/],
    [{ id: 's', faults: ['nonsense'] }, /^faults\.0: unknown fault nonsense/],
    [{ id: 's', faults: [{ spec: 'conflict', match: { op: 'x' } }] }, /^faults\.0.*unknown operation "x"/],
    [{ id: 's', faults: [{ do: { cut: {} }, at: 'lunch' }] }, /^faults\.0.*at/],
    [{ id: 's', faults: [{ match: { op: 'getRepository' }, at: 'git.pack', do: { cut: {} } }] }, /^faults\.0/],
    [{ id: 's', faults: ['conflict', { spec: 'conflict', id: 's.1' }] }, /s\.1/],
    [
      { id: 's', steps: [{ on: 'pull from main', release: 'x' }] },
      /^steps\.0\.on must be a text of the form "push to BRANCH"/,
    ],
    [{ id: 's', steps: [{ on: { op: 'getRepositories' }, release: 'x' }] }, /^steps\.0\.on\.op: .*getRepositories/],
    [{ id: 's', steps: [{ on: { op: 'grep', push: 'main' }, release: 'x' }] }, /^steps\.0\.on\.push .*grep/],
    [{ id: 's', steps: [{ on: { times: 2 }, release: 'x' }] }, /^steps\.0\.on/],
    [{ id: 's', steps: [{ on: { status: 'ok' }, release: 'x' }] }, /^steps\.0\.on\.status/],
    [{ id: 's', steps: [{ after: 'soon', release: 'x' }] }, /^steps\.0\.after/],
    [{ id: 's', steps: [{ after: 'PT1S' }] }, /^steps\.0.*must change something/],
    [
      { id: 's', steps: [{ repository: { state: 'active' } }] },
      /^steps\.0\.repository.*no "on" of this or an earlier step/,
    ],
    [{ id: 's', steps: [{ on: { op: 'getOrganization' }, repository: {} }] }, /^steps\.0\.repository/],
    [{ id: 's', steps: [{ faults: ['nonsense'] }] }, /^steps\.0\.faults\.0/],
    [
      { id: 's', steps: [{ state: { organizations: { nobody: {} } } }] },
      /^steps\.0\.state\.organizations: the organization nobody/,
    ],
    [{ id: 's', expect: { requests: [{ match: { color: 1 } }] } }, /^expect\.requests\.0/],
  ];
  for (const [scenario, detail] of rows) {
    const response = await admin('POST', '/scenarios', scenario);
    t.match(response, { status: /^40[09]$/, json: { detail } }, JSON.stringify(scenario));
  }
  t.same((await admin('GET', '/scenarios')).json.items, []);
  t.same((await admin('GET', '/faults')).json.items, [], 'no fault remains');
});
