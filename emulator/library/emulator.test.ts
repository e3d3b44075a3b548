import t, { type Test } from 'tap';
import type { GivenOptions } from '../config/options.js';
import { type Emulator, type Log, startEmulator } from '../index.js';

async function start(t: Test, options: GivenOptions = {}): Promise<Emulator> {
  const emulator = await startEmulator({ port: 0, clock: '2026-01-01T00:00:00Z', org: ['one', 'two'], ...options });
  t.teardown(() => emulator.close({ graceMs: 0 }));
  return emulator;
}

/**
 * Returns the path and type of each value that is reachable from an object without a function call, such as `baseUrl:
 * string`.
 */
function reachable(object: object, path = ''): string[] {
  return Reflect.ownKeys(object).flatMap((name) => {
    const at = `${path}${String(name)}`;
    const value = (object as Record<PropertyKey, unknown>)[name];
    if (Array.isArray(object) && name === 'length') return [];
    if (typeof value !== 'object' || value === null) return [`${at}: ${typeof value}`];
    t.ok([Object.prototype, Array.prototype].includes(Object.getPrototypeOf(value)), `${at} is a plain value`);
    return reachable(value, `${at}.`);
  });
}

const ADDRESS = ['org: string', 'baseUrl: string', 'gitUrl: string', 'gitHost: string'];

t.test('an emulator exposes only its addresses and its methods', async (t) => {
  const emulator = await start(t);
  const orgs = [0, 1].flatMap((index) => ADDRESS.map((line) => `orgs.${index}.${line}`));
  t.same(
    reachable(emulator).sort(),
    [
      ...ADDRESS,
      ...orgs,
      'keyId: string',
      'keyFile: string',
      'adminUrl: string',
      'token: function',
      'remote: function',
      'env: function',
      'export: function',
      'import: function',
      'scenario: function',
      'outbox: function',
      'requests: function',
      'verify: function',
      'clock.mode: string',
      'clock.now: function',
      'clock.advance: function',
      'clock.freeze: function',
      'clock.tick: function',
      'clock.real: function',
      'clock.set: function',
      'clock.change: function',
      'quotas.read: function',
      'quotas.change: function',
      'state.read: function',
      'state.change: function',
      'namespace: function',
      'snapshot: function',
      'restore: function',
      'fault: function',
      'release: function',
      'repository: function',
      'reset: function',
      'close: function',
      `${String(Symbol.asyncDispose)}: function`,
    ].sort(),
  );
});

t.test('a namespace, a fault and returned values expose nothing internal', async (t) => {
  const emulator = await start(t);
  const namespace = await emulator.namespace();
  const own = (lines: string[]) => lines.filter((line) => !/^(id|namespace): /.test(line)).sort();
  t.same(own(reachable(namespace)), own(reachable(emulator)));
  const handle = emulator.fault('latency*1;ms=1');
  t.same(
    reachable(handle).sort(),
    [
      'id: string',
      'fired: number',
      'requests: function',
      'disable: function',
      'enable: function',
      'remove: function',
      `${String(Symbol.asyncDispose)}: function`,
    ].sort(),
  );
  emulator.quotas.change({ all: { capacity: 5, refill: '1/s' } });
  const token = await emulator.token({ repo: 'app', scopes: ['repo:write'] });
  const headers = { authorization: `Bearer ${token}` };
  await (await fetch(`${emulator.baseUrl}/api/repos`, { method: 'POST', headers, body: '{}' })).arrayBuffer();
  const verified = emulator.verify({ requests: [{ match: { status: 500 } }], client: true });
  for (const read of [
    ...emulator.requests(),
    handle.requests(),
    verified,
    emulator.state.read(),
    emulator.quotas.read(),
  ]) {
    t.notMatch(reachable(read).join('\n'), ': function');
  }
});

t.test('a fault is disabled and enabled again, and its counters continue', async (t) => {
  const emulator = await start(t);
  const status = async () => (await fetch(`${emulator.baseUrl}/api/repos`)).status;
  const fault = emulator.fault('bad_gateway*2@headers');
  t.equal(await status(), 502);
  fault.disable();
  t.same([await status(), fault.fired, fault.requests().length], [401, 1, 1]);
  fault.enable();
  t.same([await status(), await status(), fault.fired], [502, 401, 2]);
  fault.remove();
  fault.disable();
  t.throws(() => fault.enable(), { message: 'The fault fault-1 was removed, so it cannot be enabled.' });
});

t.test('the log is a function, or an object with a write method', async (t) => {
  const events: string[] = [];
  const note = ({ event }: { readonly event: string }) => void events.push(event);
  for (const log of [note, { write: note }]) {
    await using emulator = await startEmulator({ port: 0 }, { log });
    await (await fetch(`${emulator.baseUrl}/api/repos`)).text();
    t.same(events.splice(0), ['request']);
  }
  const wrong = { writeLine: note } as unknown as Log;
  await t.rejects(startEmulator({ port: 0 }, { log: wrong }), { message: /^log must be a function that takes a line/ });
});

t.test('requests are selected by their properties and their results', async (t) => {
  const emulator = await start(t);
  for (const path of ['/api/v1/repo', '/nothing', '/api/v1/repo']) {
    for (const { baseUrl } of emulator.orgs) await (await fetch(baseUrl + path)).arrayBuffer();
  }
  const all = emulator.requests();
  t.equal(all.length, 6);
  const ids = (query: Parameters<Emulator['requests']>[0]) =>
    emulator.requests(query).map(({ id }) => Number(id.slice(4)));
  t.same(ids({}), [1, 2, 3, 4, 5, 6]);
  t.same(ids({ organization: 'two' }), [2, 4, 6]);
  t.same(ids({ operation: 'getRepository' }), [1, 2, 5, 6]);
  t.same(ids({ code: 'route_not_found', organization: 'one' }), [3]);
  t.same(ids({ status: 404 }), [3, 4]);
  t.same(ids({ method: 'POST' }), []);
  t.same(ids({ after: all[3]!.id }), [5, 6]);
  t.match(all[0], { method: 'GET', path: '/api/v1/repo', origin: 'real', why: [/./] });
});

t.test('the clock can be advanced, frozen, set and returned to real time', async (t) => {
  const { clock } = await start(t);
  t.equal(clock.mode, 'tick');
  const start0 = clock.now();
  t.equal(start0, Date.parse('2026-01-01T00:00:00Z'));
  await clock.advance(3_600_000);
  t.equal(clock.now(), start0 + 3_600_000);
  for (const wrong of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, '1', 'P1M', 8.64e15])
    t.throws(() => clock.advance(wrong), /advance/, String(wrong));
  for (const wrong of ['noon', '2026-01-01T00:00:00', Number.NaN, 8.64e15 + 1])
    t.throws(() => clock.set(wrong), /now must be an ISO 8601 time/, String(wrong));
  t.throws(() => clock.change({ mode: 'slow' as never }), /mode must be one of real, frozen, tick/);
  t.throws(() => clock.change({ speed: 2 } as never), /unknown member "speed"/);
  t.equal(clock.now(), start0 + 3_600_000);
  await clock.advance('PT1M');
  await clock.freeze();
  t.same([clock.mode, clock.now()], ['frozen', start0 + 3_660_000]);
  await clock.tick('2027-01-01T00:00:00Z');
  t.same([clock.mode, clock.now()], ['tick', Date.parse('2027-01-01T00:00:00Z')]);
  await clock.real();
  t.equal(clock.mode, 'real');
  t.ok(Math.abs(clock.now() - Date.now()) < 60_000);
  await clock.advance('P1D');
  t.ok(clock.now() > Date.now() + 86_000_000, 'a clock in real mode can be ahead of the machine');
});

t.test('the state of organizations is read, and changed atomically', async (t) => {
  const emulator = await start(t, { forgeApps: 2 });
  const { state } = emulator;
  const initial = { authentication: 'available', hosting: 'on', forgeApps: 2, upstream: 'reachable' };
  t.match(state.read(), { organizations: { one: initial, two: initial }, repositories: {} });
  state.change({ organizations: { two: { authentication: 'unavailable', hosting: 'off', forgeApps: 0 } } });
  const changed = { authentication: 'unavailable', hosting: 'off', forgeApps: 0, upstream: 'reachable' };
  t.same(state.read().organizations, { one: initial, two: changed });
  const codeOf = async (org: number) =>
    ((await (await fetch(`${emulator.orgs[org]!.baseUrl}/api/repos`)).json()) as { code: string }).code;
  t.equal(await codeOf(1), 'authentication_unavailable');
  t.not(await codeOf(0), 'authentication_unavailable');
  const one = { hosting: 'off' } as const;
  for (const [what, wrong, sentence] of [
    ['an organization', { organizations: { one, three: {} } }, /The organization "three" does not exist/],
    ['a member', { organizations: { one: { ...one, quota: 1 } } }, /organizations.one: .*"quota"/],
    ['an unknown member', { organizations: { one }, limit: {} }, /"limit"/],
    ['a limit that is fixed', { organizations: { one }, limits: { maxSockets: 1 } }, /limits: .*"maxSockets"/],
    ['a variant', { organizations: { one }, variants: { thawing: '500' } }, /variants.thawing/],
    ['a value', { organizations: { one: { ...one, authentication: 'off' } } }, /organizations.one.authentication/],
    ['a value of hosting', { organizations: { one: { hosting: 'maybe' } } }, /organizations.one.hosting/],
    ['a number', { organizations: { one: { ...one, forgeApps: 1.5 } } }, /organizations.one.forgeApps/],
    [
      'a repository',
      { organizations: { one }, repositories: { r: { state: 'archived' } } },
      /repository "r" does not exist/,
    ],
  ] as const) {
    t.throws(() => state.change(wrong as never), sentence, what);
    t.same(state.read().organizations.one, initial, `${what}: nothing is changed`);
  }
  t.throws(() => state.read({ org: 'three' }), /The organization "three" does not exist/);
  await emulator.reset();
  t.same(state.read().organizations, { one: initial, two: initial }, 'a reset restores the initial state');
});
