import { createHash, generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import t from 'tap';
import { request } from 'undici';
import { ADMIN_PREFIX } from '../../admin/path.js';
import { adminRoutes } from '../../admin/routes.js';
import { fixtureKeys } from '../../auth/fixture-keys.js';
import { mintToken } from '../../auth/mint.js';
import { startEmulator } from '../../index.js';
import type { CallOptions, ServiceResponse } from '../service.js';
import { stateDigest } from '../world/state-digest.js';
import { changedParts } from '../world/world-parts.js';
import { START, startAdmin } from './admin-service.js';

t.test('a body must be JSON with known members, of a limited size', async (t) => {
  const { service, admin } = await startAdmin(t);
  const before = { world: service.world, snapshot: service.world.snapshot() };
  const routes = adminRoutes.filter(({ method, bodyType }) => method !== 'GET' && bodyType === undefined);
  for (const { method, path } of routes) {
    const target = path.replace(/\{\w+\}/, 'x');
    const post = (more: CallOptions) => admin(method, target, undefined, more);
    const what = `${method} ${path}`;
    const bad = (response: ServiceResponse, status: number, detail: RegExp) =>
      t.match(response, { status, json: { status, detail, instance: ADMIN_PREFIX + target } }, what);
    const type = { 'content-type': 'application/json' };
    bad(await admin(method, target, { nonsense: 1 }), 400, /"nonsense"/);
    bad(await admin(method, `${target}?nonsense=1`, {}), 400, /"nonsense"/);
    bad(await post({ body: '{', headers: type }), 400, /not valid JSON/);
    bad(await post({ body: '[]', headers: type }), 400, /object/);
    bad(await post({ body: '"x"', headers: type }), 400, /object/);
    bad(await post({ body: Buffer.from([0x7b, 0xff, 0x7d]), headers: type }), 400, /UTF-8/);
    bad(await post({ body: '['.repeat(100), headers: type }), 400, /deeper/);
    bad(await post({ body: '{}' }), 415, /application\/json/);
    bad(await post({ body: 'a=b', headers: { 'content-type': 'application/x-www-form-urlencoded' } }), 415, /json/);
    bad(await post({ headers: { 'content-type': 'text/plain' } }), 415, /json/);
    bad(await post({ body: '{}', headers: { ...type, 'content-encoding': 'gzip' } }), 415, /Compressed/);
    bad(await post({ body: `{"x":"${'x'.repeat(1024 * 1024)}"}`, headers: type }), 413, /1048576 bytes/);
  }
  for (const [path, detail] of [
    ['/requests?limit=0', /limit must be/],
    ['/requests?limit=x', /limit must be/],
    ['/requests?cursor=x', /cursor/],
    ['/requests?cursor=x&cursor=y', /twice/],
    ['/requests?status=200x', /^status.*must be a status/],
    ['/keys?organisation=x', /"organisation"/],
    ['/repositories/%zz', /percent/],
    ['/repositories/%00', /NUL/],
  ] as const) {
    t.match(await admin('GET', path), { status: 400, json: { detail } }, path);
  }
  t.same(changedParts(before, service.world), [], 'nothing has changed');
});

t.test('health, version and operations describe the emulator', async (t) => {
  const { admin } = await startAdmin(t);
  t.match((await admin('GET', '/health')).json, { emulator: true, status: 'ready', organization: 'demo' });
  const { json: version } = await admin('GET', '/version');
  t.same(
    Object.keys(version).sort(),
    ['api', 'emulator', 'version'],
    'the seed is not shown, because secrets are derived from it',
  );
  const { json } = await admin('GET', '/operations');
  t.equal(json.has_more, false);
  const byId = new Map(json.items.map((item: { id: string }) => [item.id, item]));
  t.match(byId.get('commitPack'), {
    effect: 'write',
    routes: [
      { method: 'POST', path: String },
      { method: 'POST', path: '/api/v1/repos/commit-pack' },
    ],
    stages: ['accept', 'headers', 'body', 'auth', 'before', 'after', 'response.head', 'response.body'],
  });
  const { codes } = byId.get('commitPack') as { codes: string[] };
  for (const code of ['bad_request', 'rate_limited', 'repository_thawing', 'sync_in_progress', 'conflict'])
    t.ok(codes.includes(code), code);
  t.match(byId.get('gitReceivePack'), { stages: [...Array(8).fill(String), 'git.receive', 'git.report'] });
});

t.test('a list continues at its cursor', async (t) => {
  const { admin, call } = await startAdmin(t);
  for (let count = 0; count < 7; count++) await call('GET', `/nothing/${count}`, { token: null });
  const seen: string[] = [];
  let cursor = '';
  for (let page = 1; ; page++) {
    const { json, status } = await admin('GET', `/requests?limit=3&code=route_not_found${cursor}`);
    t.equal(status, 200);
    seen.push(...json.items.map(({ path }: { path: string }) => path));
    t.equal(json.has_more, json.next_cursor !== null);
    if (!json.has_more) {
      t.equal(page, 3);
      break;
    }
    // Continue the list with a cursor. New requests must appear at its end, and removed requests must not shift the
    // others.
    cursor = `&cursor=${json.next_cursor}`;
    const other = await admin('GET', `/requests?limit=3${cursor}`);
    t.match(other, { status: 400, json: { detail: /cursor/ } }, 'a cursor of another list is refused');
  }
  t.same(
    seen,
    [0, 1, 2, 3, 4, 5, 6].map((count) => `/nothing/${count}`),
  );
});

t.test('snapshots are taken, restored and removed', async (t) => {
  const { service, admin, seed, call, world } = await startAdmin(t);
  await seed('r');
  const held = world.engine.memory.used;
  const taken = await admin('POST', '/snapshots');
  t.match(taken, { status: 201, json: { id: String, taken_at: /^2026-01-01T00:00:00\.\d{3}Z$/, repositories: 1 } });
  const { id } = taken.json;
  t.same((await admin('GET', '/snapshots')).json.items, [taken.json], 'the snapshot of the start is not listed');
  const digest = stateDigest(service.world);
  await call('DELETE', '/api/repos/r', { repo: 'r' });
  t.equal(service.world.engine.memory.used, held, 'the snapshot keeps the objects in memory');
  t.match(await admin('POST', `/snapshots/${id}/restore`, {}), { status: 200, json: { id } });
  t.equal(stateDigest(service.world), digest);
  t.match(await call('GET', '/api/v1/repo', { repo: 'r' }), { status: 200 });
  t.match(await admin('POST', '/reset'), { status: 200, json: { status: 'reset' } });
  t.match(await call('GET', '/api/v1/repo', { repo: 'r' }), { status: 404 });
  t.equal(service.world.engine.memory.used, held);
  t.match(await admin('DELETE', `/snapshots/${id}`), { status: 204, text: '' });
  t.equal(service.world.engine.memory.used, 0, 'nothing else referenced the objects');
  for (const [method, path] of [
    ['DELETE', `/snapshots/${id}`],
    ['POST', `/snapshots/${id}/restore`],
    ['DELETE', '/snapshots/snapshot-1'],
    ['POST', '/snapshots/snapshot-1/restore'],
  ] as const)
    t.match(await admin(method, path), { status: 404, json: { code: 'not_found' } }, `${method} ${path}`);
  t.match(await admin('POST', '/reset'), { status: 200 });
});

t.test('removing a snapshot keeps what a repository or another snapshot references', async (t) => {
  const { service, admin, seed, call } = await startAdmin(t);
  await seed('r');
  const content = Buffer.from('large'.repeat(1000));
  const path = `/r.git/info/lfs/objects/${createHash('sha256').update(content).digest('hex')}`;
  t.equal((await call('PUT', path, { repo: 'r', body: content })).status, 200);
  const held = () => service.world.engine.memory.used;
  const before = held();
  const take = async () => (await admin('POST', '/snapshots')).json.id;
  const remove = async (id: string) => t.equal((await admin('DELETE', `/snapshots/${id}`)).status, 204);
  await remove(await take());
  t.equal(held(), before, 'the repository references the objects');
  t.match(await call('GET', '/api/v1/repos/file?path=README.md', { repo: 'r' }), { status: 200, text: 'hello\n' });
  t.match(await call('GET', path, { repo: 'r' }), { status: 200, text: content.toString() });
  const [one, other] = [await take(), await take()];
  await call('DELETE', '/api/repos/r', { repo: 'r' });
  await remove(one);
  t.equal(held(), before, 'the other snapshot references the objects');
  t.match(await admin('POST', `/snapshots/${other}/restore`), { status: 200 });
  t.match(await call('GET', path, { repo: 'r' }), { status: 200, text: content.toString() });
  await call('DELETE', '/api/repos/r', { repo: 'r' });
  await remove(other);
  t.equal(held(), 0);
});

t.test('a snapshot can be restored and removed at the same time', async (t) => {
  const { service, admin, seed, commit, call } = await startAdmin(t);
  await seed('r');
  const { id } = (await admin('POST', '/snapshots')).json;
  await commit('r', { 'later.txt': 'x' });
  const responses = await Promise.all([
    admin('POST', `/snapshots/${id}/restore`),
    admin('DELETE', `/snapshots/${id}`),
    admin('POST', `/snapshots/${id}/restore`),
    admin('DELETE', `/snapshots/${id}`),
    commit('r', { 'meanwhile.txt': 'x' }),
  ]);
  for (const { status } of responses) t.ok([200, 201, 204, 404, 503].includes(status), `${status}`);
  t.equal(responses[1]!.status, 204);
  t.match(await call('GET', '/api/v1/repos/file?path=README.md', { repo: 'r' }), { status: 200 });
  await call('DELETE', '/api/repos/r', { repo: 'r' });
  t.equal(service.world.engine.memory.used, 0, 'all memory is released');
});

t.test('the clock is shown, set and advanced', async (t) => {
  const { admin, emulator } = await startAdmin(t);
  t.match(await admin('GET', '/clock'), { status: 200, json: { mode: 'tick', now: '2026-01-01T00:00:00.000Z' } });
  for (const [change, now] of [
    [{ advance: 'PT30S' }, '2026-01-01T00:00:30.000Z'],
    [{ advance: 'P1DT2H' }, '2026-01-02T02:00:30.000Z'],
    [{ advance: '500ms' }, '2026-01-02T02:00:30.500Z'],
    [{ now: '2027-01-01T00:00:00+01:00' }, '2026-12-31T23:00:00.000Z'],
    [{ now: '2027-01-01', advance: 'P1W' }, '2027-01-08T00:00:00.000Z'],
    [{}, '2027-01-08T00:00:00.000Z'],
  ] as const) {
    t.match(await admin('PATCH', '/clock', change), { status: 200, json: { now } }, JSON.stringify(change));
    t.equal(emulator.clock.now(), Date.parse(now));
  }
  for (const [change, detail] of [
    [{ advance: 'soon' }, /^advance: must be an ISO 8601 duration/],
    [{ advance: '-PT1S' }, /^advance: /],
    [{ advance: 30 }, /^advance: /],
    [{ now: '2026-02-30T00:00:00Z' }, /^now: must be an ISO 8601 time/],
    [{ now: 'later' }, /^now: /],
    [{ mode: 'slow' }, /^mode: must be one of real, frozen, tick/],
    [{ freeze: true }, /"freeze"/],
  ] as const) {
    t.match(await admin('PATCH', '/clock', change), { status: 400, json: { detail } }, JSON.stringify(change));
  }
  t.equal(emulator.clock.now(), Date.parse('2027-01-08'));
});

t.test('the clock is frozen, ticks, or follows the clock of the machine', async (t) => {
  const { admin, call, seed } = await startAdmin(t);
  await seed('r');
  const read = async () => Date.parse((await call('GET', '/api/v1/repo', { repo: 'r' })).headers.date!);
  t.match((await admin('PATCH', '/clock', { mode: 'frozen', now: '2030-01-01T00:00:00Z' })).json, { mode: 'frozen' });
  t.same([await read(), await read()], Array(2).fill(Date.parse('2030-01-01T00:00:00Z')));
  t.match((await admin('PATCH', '/clock', { mode: 'real' })).json, { mode: 'real' });
  t.ok(Math.abs((await read()) - Date.now()) < 60_000);
  t.match((await admin('PATCH', '/clock', { advance: 'P1D' })).json, { mode: 'real' });
  t.ok((await read()) > Date.now() + 86_000_000, 'a real clock can be ahead of the machine');
});

t.test('quotas are shown and set, all or nothing', async (t) => {
  const { admin, call, seed } = await startAdmin(t);
  await seed('r');
  t.same((await admin('GET', '/quotas')).json, { quotas: {} });
  const gateway = { capacity: 1, refill: '1/10s' };
  const shown = { by: ['org'], cost: { '*': 1 }, retryAfter: { add: 0, format: 'seconds' }, ...gateway };
  t.match(await admin('PATCH', '/quotas', { quotas: { gateway } }), {
    status: 200,
    json: { quotas: { gateway: shown } },
  });
  const read = () => call('GET', '/api/v1/repo', { repo: 'r' });
  t.equal((await read()).status, 200);
  t.match(await read(), { status: 429, headers: { ratelimit: '"gateway";r=0;t=10', 'retry-after': '10' } });
  for (const [body, detail] of [
    [{ quotas: { gateway: null, other: { capacity: 1 } } }, /^quotas\.other\.refill/],
    [{ quotas: { gateway: { ...gateway, window: 3 } } }, /"window"/],
    [{ quotas: { gateway: 5 } }, /^quotas\.gateway/],
  ] as const)
    t.match(await admin('PATCH', '/quotas', body), { status: 400, json: { detail } }, JSON.stringify(body));
  t.same((await admin('GET', '/quotas')).json, { quotas: { gateway: shown } });
  t.same((await admin('PATCH', '/quotas', { quotas: { gateway: null } })).json, { quotas: {} });
  t.equal((await read()).status, 200);
});

t.test('states are shown and set, all or nothing', async (t) => {
  const { admin, seed, call } = await startAdmin(t, { org: ['demo', 'other'] });
  await seed('r');
  const change = { organizations: { demo: { hosting: 'off' } }, repositories: { r: { state: 'archived' } } };
  const response = await admin('PATCH', '/state', change);
  t.match(response, { status: 200, json: change });
  t.match((await admin('GET', '/state')).json, response.json);
  t.match(await call('GET', '/api/v1/repo', { repo: 'r' }), { status: 409, json: { code: 'repository_thawing' } });
  t.same((await admin('GET', '/state?organization=other')).json.repositories, {});
  for (const [body, detail] of [
    [{ organizations: { nobody: {} } }, /nobody/],
    [{ organizations: { demo: { hosting: 'maybe' } } }, /hosting/],
    [{ organizations: { demo: { color: 'red' } } }, /color/],
    [{ organizations: { demo: { hosting: 'on' } }, repositories: { none: { state: 'active' } } }, /none/],
    [{ repositories: { r: { state: 'melting' } } }, /state/],
    [{ repositories: { r: 'archived' } }, /^repositories\.r: /],
    [{ repository: {} }, /"repository"/],
  ] as const) {
    t.match(await admin('PATCH', '/state', body), { status: 400, json: { detail } }, JSON.stringify(body));
  }
  t.match(await admin('GET', '/state?organization=nobody'), { status: 400, json: { detail: /nobody/ } });
  t.match((await admin('GET', '/state')).json.organizations.demo, { hosting: 'off' }, 'nothing has changed');
});

t.test('keys are registered, shown by their public part, and removed', async (t) => {
  const { admin, call } = await startAdmin(t, { org: ['demo', 'other'] });
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = (key: typeof publicKey, type: 'spki' | 'pkcs8') => String(key.export({ type, format: 'pem' }));
  const privatePem = pem(privateKey, 'pkcs8');
  const token = (kid?: string, org = 'demo') =>
    mintToken({ privateKeyPem: privatePem, org, repo: 'x', now: Date.parse(START), ...(kid && { kid }) });
  const use = async (kid?: string) => (await call('GET', '/api/v1/repo', { token: await token(kid) })).status;
  t.equal(await use(), 403, 'a key that nobody registered');
  const added = await admin('POST', '/keys', { public_key: privatePem, id: 'mine' });
  t.match(added, { status: 201, json: { id: 'mine', alg: 'ES256', organization: 'demo', allowed_scopes: ['*'] } });
  t.equal(added.json.public_key, pem(publicKey, 'spki'), 'only the public part of a private key is kept');
  t.equal(await use('mine'), 404, 'its tokens are valid');
  t.equal(await use(), 404);
  const list = await admin('GET', '/keys');
  t.same(
    list.json.items.map(({ organization, id }: Record<string, string>) => [organization, id]),
    [...['es256', 'es384', 'es512', 'rs256', 'restricted', 'mine'].map((id) => ['demo', id]), ['other', 'second']],
  );
  t.notMatch(list.text, /PRIVATE/);
  t.same(Object.keys(list.json.items[0]).sort(), ['alg', 'allowed_scopes', 'id', 'organization', 'public_key']);
  t.equal((await admin('GET', '/keys?organization=other')).json.items.length, 1);
  const again = { public_key: pem(publicKey, 'spki'), id: 'mine' };
  t.match(await admin('POST', '/keys', again), { status: 409, json: { detail: /mine/ } });
  const jwk = { ...privateKey.export({ format: 'jwk' }) };
  const other = await admin('POST', '/keys', { public_key: jwk, organization: 'other', allowed_scopes: ['git:read'] });
  t.match(other, { status: 201, json: { id: /^[\w-]{43}$/, allowed_scopes: ['git:read'], organization: 'other' } });
  t.notOk(other.text.includes(jwk.d as string));
  const path = `/keys/${other.json.id}`;
  t.match(await admin('DELETE', path), { status: 404 }, 'another organization’s');
  t.match(await admin('DELETE', `${path}?organization=other`), { status: 204 });
  t.match(await admin('DELETE', '/keys/mine'), { status: 204 });
  t.equal(await use('mine'), 403, 'a token that was valid before is refused');
  const p256k = generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey;
  for (const [body, status, detail] of [
    [{}, 400, /^public_key: /],
    [{ public_key: 'x' }, 400, /^public_key cannot be read/],
    [{ public_key: { kty: 'oct', k: 'AAAA' } }, 400, /^public_key cannot be read/],
    [{ public_key: 5 }, 400, /^public_key: must be/],
    [{ public_key: pem(p256k, 'spki') }, 400, /P-256/],
    [{ ...again, allowed_scopes: ['git:admin'] }, 400, /^allowed_scopes: must be/],
    [{ ...again, allowed_scopes: [] }, 400, /^allowed_scopes: Too small/],
    [{ ...again, id: '' }, 400, /^id: /],
    [{ ...again, organization: 'nobody' }, 404, /nobody/],
    [{ ...again, secret: 1 }, 400, /"secret"/],
  ] as const) {
    t.match(await admin('POST', '/keys', body), { status, json: { detail } }, JSON.stringify(body));
  }
});

t.test('an organization has a limited number of keys', async (t) => {
  const { admin } = await startAdmin(t);
  const public_key = readFileSync(fixtureKeys()[0]!.publicKeyFile, 'utf8');
  for (let count = 5; count < 100; count++) {
    t.equal((await admin('POST', '/keys', { public_key, id: `k${count}` })).status, 201);
  }
  t.match(await admin('POST', '/keys', { public_key, id: 'more' }), { status: 507 });
});

t.test('tokens are signed with the time of the emulator', async (t) => {
  const { admin, call, emulator, seed } = await startAdmin(t, { org: ['demo', 'other'] });
  await seed('r');
  emulator.clock.advance(3_600_000);
  const before = emulator.clock.now();
  const { status, json } = await admin('POST', '/tokens', { repo: 'r' });
  t.match({ status, json }, { status: 201, json: { key: 'es256', issued_at: '2026-01-01T01:00:00.000Z' } });
  t.equal(emulator.clock.now(), before);
  t.equal((await call('GET', '/api/v1/repo', { token: json.token })).status, 200);
  const iat = Math.floor(before / 1000);
  t.same(decodeJwt(json.token), {
    iss: 'demo',
    sub: 'emulator',
    repo: 'r',
    scopes: ['git:write', 'git:read'],
    iat,
    exp: iat + 31_536_000,
  });
  const given = { scopes: ['org:read'], ttl: 60, sub: 'me', org: 'other', faults: ['cut;bytes=1'], scenario: 's' };
  const other = await admin('POST', '/tokens', given);
  t.match(other.json, { key: 'second', expires_at: '2026-01-01T01:01:00.000Z' });
  t.match(decodeJwt(other.json.token), {
    iss: 'other',
    sub: 'me',
    exp: iat + 60,
    emu: { faults: ['cut;bytes=1'], scenario: 's' },
  });
  const restricted = await admin('POST', '/tokens', { repo: 'r', key: 'restricted' });
  t.match(decodeProtectedHeader(restricted.json.token), { kid: 'restricted' });
  t.match(decodeJwt(restricted.json.token), { scopes: ['git:read'], exp: iat + 3600 });
  for (const [body, detail] of [
    [{ ttl: 0 }, /^ttl: /],
    [{ ttl: 1.5 }, /^ttl: /],
    [{ scopes: [] }, /^scopes: /],
    [{ key: 'mine' }, /^key must be the id of a test key: es256/],
    [{ key: '/etc/passwd' }, /^key must be the id of a test key: es256/],
    [{ repo: '' }, /^repo: /],
    [{ faults: 'cut' }, /^faults: /],
    [{ faults: ['cut;bytes=1', 'nonsense'] }, /^faults: .*nonsense/],
    [{ faults: ['cut@headers'] }, /^faults: .*headers/],
    [{ scenario: 'a b' }, /^scenario: /],
    [{ claims: {} }, /"claims"/],
  ] as const) {
    t.match(await admin('POST', '/tokens', body), { status: 400, json: { detail } }, JSON.stringify(body));
  }
});

t.test('shutdown responds, and then closes the emulator', async (t) => {
  let tellClosed = () => {};
  const closed = new Promise<void>((resolve) => {
    tellClosed = resolve;
  });
  const { adminUrl } = await startEmulator({ port: 0, log: 'quiet' }, { onClosed: tellClosed });
  const { statusCode, headers, body } = await request(`${adminUrl}/shutdown`, { method: 'POST' });
  t.match(
    { statusCode, headers, json: await body.json() },
    {
      statusCode: 202,
      headers: { connection: 'close' },
      json: { status: 'closing' },
    },
  );
  await closed;
  await t.rejects(request(`${adminUrl}/health`), { code: 'ECONNREFUSED' });
});
