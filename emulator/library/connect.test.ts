import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { GivenOptions } from '../config/options.js';
import { type ConnectedEmulator, connectEmulator, type Emulator, startEmulator } from '../index.js';

async function start(t: Test, options: GivenOptions = {}): Promise<Emulator> {
  const emulator = await startEmulator({ port: 0, clock: '2026-01-01T00:00:00Z', org: ['one', 'two'], ...options });
  t.teardown(() => emulator.close({ graceMs: 0 }));
  return emulator;
}

async function connect(
  t: Test,
  options: GivenOptions = {},
): Promise<{ emulator: Emulator; connected: ConnectedEmulator }> {
  const emulator = await start(t, options);
  return { emulator, connected: await connectEmulator(emulator.baseUrl) };
}

/** Returns the names of all members of an object and of the plain objects in it. */
function namesIn(object: object, path = ''): string[] {
  return Reflect.ownKeys(object).flatMap((name) => {
    const at = `${path}${String(name)}`;
    if (['fired', 'mode'].includes(String(name))) return [at];
    const value = (object as Record<PropertyKey, unknown>)[name];
    return typeof value === 'object' && value !== null ? [at, ...namesIn(value, `${at}.`)] : [at];
  });
}

t.test('both handles have the same names and the same addresses', async (t) => {
  const { emulator, connected } = await connect(t);
  const dispose = String(Symbol.asyncDispose);
  const namesOf = (object: object) => namesIn(object).sort();
  t.same([...namesOf(connected), dispose].sort(), namesOf(emulator), 'only a started emulator ends with its block');
  const { org, orgs, baseUrl, gitUrl, gitHost, keyId, keyFile, adminUrl } = emulator;
  t.match(connected, { org, orgs, baseUrl, gitUrl, gitHost, keyId, keyFile, adminUrl });
  const [own, other] = [await emulator.namespace(), await connected.namespace()];
  t.same(namesOf(other), namesOf(own));
  t.same(namesOf(await connected.fault('lost*1')), namesOf(emulator.fault('lost*1')));
  t.same(
    namesOf(await connected.scenario({ id: 'a' }, { start: false })),
    namesOf(await emulator.scenario({ id: 'b' }, { start: false })),
  );
  t.same(namesOf(connected.repository('r')), namesOf(emulator.repository('r')));
});

t.test('what one handle changes, the other one reads', async (t) => {
  const { emulator, connected } = await connect(t);
  await connected.clock.freeze(new Date('2027-01-01T00:00:00Z'));
  await connected.clock.advance(90_000);
  t.same([await connected.clock.mode, await connected.clock.now()], ['frozen', Date.UTC(2027, 0, 1, 0, 1, 30)]);
  await connected.clock.change({ mode: 'tick', now: Date.UTC(2028, 0, 1), advance: '1h' });
  t.same([emulator.clock.mode, emulator.clock.now()], ['tick', await connected.clock.now()]);
  await connected.quotas.change({ all: { capacity: 5, refill: '1/s' } });
  t.same(await connected.quotas.read(), emulator.quotas.read());
  await connected.quotas.change({ all: null });
  await connected.repository('team/two', { org: 'two' }).seed({ a: 'a' });
  await connected.state.change(
    { repositories: { 'team/two': { state: 'thawing', ends: { signal: 'door' } } } },
    { org: 'two' },
  );
  t.same(await connected.state.read({ org: 'two' }), emulator.state.read({ org: 'two' }));
  t.match(emulator.state.read({ org: 'two' }).repositories, { 'team/two': { state: 'thawing' } });
  t.equal(await connected.release('door'), 1);
  const snapshot = await connected.snapshot();
  await connected.reset();
  t.same(emulator.state.read({ org: 'two' }).repositories, {});
  await connected.restore(snapshot);
  t.match(emulator.state.read({ org: 'two' }).repositories, { 'team/two': { state: 'active' } });
});

t.test('requests, verification, faults and scenarios are those of the other process', async (t) => {
  const { emulator, connected } = await connect(t);
  const fault = await connected.fault({ at: 'headers', do: { error: { code: 'service_unavailable' } } });
  const get = async () => (await fetch(`${emulator.baseUrl}/api/repos`)).status;
  t.equal(await get(), 503);
  t.equal(await fault.fired, 1);
  t.same(await fault.requests(), ['req-00000001']);
  await fault.disable();
  t.equal(await get(), 401);
  await fault.enable();
  t.same([await get(), await fault.fired], [503, 2]);
  await fault.remove();
  await fault.remove();
  t.same([await fault.fired, await get()], [2, 401], 'the handle keeps the last values');
  await fault.disable();
  await t.rejects(fault.enable(), { message: 'The fault fault-1 was removed, so it cannot be enabled.' });
  await fetch(`${emulator.baseUrl}/api/repos?x=1`, { method: 'POST', body: 'text' });
  t.same(JSON.parse(JSON.stringify(emulator.requests())), await connected.requests());
  t.same(
    (await connected.requests({ operation: ['listRepositories', 'grep'], status: '4xx' })).map(({ id }) => id),
    ['req-00000002', 'req-00000004'],
  );
  t.equal((await connected.requests({})).dropped, 0);
  const expectations = { requests: [{ match: { status: 503 }, count: 2 }], client: true } as const;
  t.same(await connected.verify(expectations), JSON.parse(JSON.stringify(emulator.verify(expectations))));
  const story = await connected.scenario({ id: 'story', about: 'A story.', steps: [{ after: '1h', release: 'door' }] });
  const other = await emulator.scenario('story', { start: false });
  t.same(await story.read(), other.read());
  const file = join(t.testdir({ 's.yaml': 'id: filed\nclock: 2027-01-01T00:00:00Z\n' }), 's.yaml');
  t.match(await (await connected.scenario(file, { start: false })).read(), { id: 'filed', isStarted: false });
  t.match(await (await connected.scenario('filed')).read(), { isStarted: true });
  t.match(await (await connected.scenario('lost-commit')).read(), { id: 'lost-commit', isStarted: true });
  await story.remove();
  t.equal((await story.read()).about, 'A story.');
});

t.test('repositories, exports, remotes and variables work over the admin API', async (t) => {
  const { emulator, connected } = await connect(t);
  const first = await connected.repository('team/app').seed({ a: 'a' }, { defaultBranch: 'trunk' });
  t.match(first, { name: 'team/app', organization: 'one', isNew: true, isFiles: true, defaultBranch: 'trunk' });
  const again = await emulator.repository('team/app').seed({ b: 'b' });
  t.match(again, { isNew: false, defaultBranch: 'trunk' });
  const fork = await connected.repository('team/fork').seed(await connected.remote('team/app'));
  t.match(fork, { commit: again.commit, isFiles: false });
  const state = await connected.export();
  t.same(state, await emulator.export());
  await emulator.reset();
  t.same(await connected.import(state), { content: 'world', repositories: 2 });
  const folder = t.testdir({ 'a.txt': 'a' });
  const imported = await connected.import(folder, { repo: 'team/files', org: 'two' });
  t.match(imported, { repository: { name: 'team/files', organization: 'two', isNew: true } });
  await t.rejects(connected.import(join(folder, 'none')), { message: /none/ });
  await t.rejects(connected.import(Buffer.from('no archive')), { message: /^The archive / });
  const { EMULATOR_TOKEN, ...variables } = await connected.env();
  const { EMULATOR_TOKEN: own, ...others } = await emulator.env();
  t.same(variables, others);
  t.equal(EMULATOR_TOKEN!.split('.')[1], own!.split('.')[1], 'the same claims');
  const claims = { repo: 'x', scopes: ['git:read'], sub: 's', ttl: 60, org: 'two', faults: ['lost*1'], scenario: 'a' };
  const fault = { do: { lostResponse: 'rst' } } as const;
  for (const options of [claims, { faults: [fault] }, { ...claims, key: emulator.keyFile }, { key: 'rs256' }]) {
    const [one, two] = [await connected.token(options), await emulator.token(options)];
    t.equal(one.split('.')[1], two.split('.')[1], JSON.stringify(options));
  }
  t.same(await connected.outbox(), []);
});

t.test('a namespace is controlled at its own address, and removed', async (t) => {
  const { emulator, connected } = await connect(t);
  const seeded = await connected.snapshot();
  const namespace = await connected.namespace({ snapshot: seeded, clock: Date.UTC(2030, 0, 1), seed: 'x' });
  t.not(namespace.baseUrl, emulator.baseUrl);
  await namespace.repository('team/app').seed({ a: 'a' });
  t.same(
    [Object.keys((await namespace.state.read()).repositories), emulator.state.read().repositories],
    [['team/app'], {}],
  );
  t.match(new Date(await namespace.clock.now()).toISOString(), '2030-01-01');
  const direct = await connectEmulator(namespace.adminUrl);
  t.equal(Object.keys((await direct.state.read()).repositories).length, 1, 'by the URL of its admin API');
  await namespace.close();
  await namespace.close();
  await t.rejects(fetch(namespace.baseUrl));
  await t.rejects(connected.namespace({ snapshot: 'none' }), {
    message: /^snapshot: the snapshot "none" does not exist/,
  });
});

t.test('at a mapped port, addresses are those of the port, and namespaces are selected by host name', async (t) => {
  const { emulator } = await connect(t);
  const { port } = new URL(emulator.baseUrl);
  const url = `http://localhost:${port}`;
  const connected = await connectEmulator(new URL(url));
  t.match(connected, { baseUrl: url, gitUrl: url, gitHost: `localhost:${port}`, adminUrl: `${url}/_emulator` });
  t.equal(connected.orgs[1]!.baseUrl, emulator.orgs[1]!.baseUrl);
  const namespace = await connected.namespace();
  t.equal(namespace.baseUrl, `http://${namespace.id}.ns.localhost:${port}`);
  await namespace.repository('team/app').seed({ a: 'a' });
  t.same(
    [Object.keys((await namespace.state.read()).repositories), emulator.state.read().repositories],
    [['team/app'], {}],
  );
});

t.test('errors of the admin API state their reason', async (t) => {
  const { emulator, connected } = await connect(t);
  await t.rejects(connected.fault('nothing'), { name: 'AdminApiError', status: 400, message: /nothing/ });
  await t.rejects(connected.restore('none'), { message: 'The snapshot "none" does not exist.' });
  await t.rejects(connected.requests({ operation: 'none' }), { message: /unknown operation "none"/ });
  await t.rejects(connected.clock.freeze('today'), { message: /ISO 8601/ });
  await emulator.close();
  await t.rejects(connected.reset(), { message: new RegExp(`^No emulator at ${emulator.baseUrl}: .*ECONNREFUSED`) });
});

t.test('a URL or an admin token that cannot be used is refused', async (t) => {
  const other = createServer((_, response) => response.end('{}'));
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  t.teardown(() => other.close());
  const { adminToken, ...guarded } = { adminToken: 'a-secret-token', port: 0 };
  const emulator = await startEmulator({ adminToken, ...guarded });
  t.teardown(() => emulator.close({ graceMs: 0 }));
  const rows: [unknown, unknown, RegExp][] = [
    [undefined, undefined, /^url must be the http or https URL of an emulator, such as \S+, not undefined\.$/],
    ['127.0.0.1:8080', undefined, /^url must be .*, not "127\.0\.0\.1:8080"\.$/],
    ['ftp://127.0.0.1/', undefined, /^url must be/],
    ['http://user:hidden@127.0.0.1:1', undefined, /^url must be .*, not a URL with credentials\.$/],
    ['http//user:hidden@127.0.0.1:1', undefined, /^url must be .*, not a URL with credentials\.$/],
    ['http://127.0.0.1:1', undefined, /^No emulator at http:\/\/127\.0\.0\.1:1: .*ECONNREFUSED/],
    [`http://127.0.0.1:${(other.address() as AddressInfo).port}`, undefined, /: the server is not an emulator/],
    [emulator.baseUrl, undefined, /Pass the admin token in the option adminToken\.$/],
    [emulator.baseUrl, 'wrong', /Pass the admin token in the option adminToken\.$/],
    [emulator.baseUrl, 'a b', /^adminToken must be a text of printable ASCII/],
    [emulator.baseUrl, 1, /^adminToken must be a text of printable ASCII/],
  ];
  for (const [url, token, message] of rows) {
    const options = { adminToken: token as string };
    await t.rejects(connectEmulator(url as string, options), { message }, String(url));
  }
  const connected = await connectEmulator(emulator.baseUrl, { adminToken });
  t.same((await connected.state.read()).repositories, {});
  await using namespace = await connected.namespace();
  t.ok(await namespace.clock.now(), 'also in a namespace');
});

t.test('the handle has the certificate that HTTPS clients must trust', async (t) => {
  const emulator = await start(t, { tls: true });
  const connected = await connectEmulator(emulator.baseUrl);
  t.equal(connected.ca, emulator.ca);
  t.same(connected.https, emulator.https);
  t.equal((await connected.env()).EMULATOR_HTTPS_URL, emulator.https!.baseUrl);
});

t.test('close stops the emulator', async (t) => {
  const { emulator, connected } = await connect(t);
  await connected.close();
  await t.rejects(fetch(emulator.baseUrl));
});
