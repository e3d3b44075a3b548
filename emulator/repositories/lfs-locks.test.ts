import t, { type Test } from 'tap';
import type { GivenOptions } from '../config/options.js';
import { type CallOptions, type Service, startService } from '../test/service.js';

const TYPE = 'application/vnd.git-lfs+json';
const LOCKS = '/team/app.git/info/lfs/locks';

async function stage(t: Test, options: GivenOptions = {}) {
  const service = await startService({ clock: Date.parse('2026-01-01T00:00:00Z'), ...options });
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  await service.call('POST', '/api/repos');
  const as = async (sub: string) => {
    const token = await service.token({ repo: 'team/app', sub });
    return (method: string, path: string, json?: unknown, options: CallOptions = {}) =>
      send(service, method, path, json, { token, ...options });
  };
  return { service, ada: await as('ada'), bob: await as('bob') };
}

function send(service: Service, method: string, path: string, json: unknown, options: CallOptions = {}) {
  const headers = { accept: TYPE, ...(json !== undefined && { 'content-type': TYPE }), ...options.headers };
  return service.call(method, LOCKS + path, { ...options, headers, ...(json !== undefined && { json }) });
}

t.test('a file is locked once, listed, told apart by owner, and unlocked', async (t) => {
  const { ada, bob } = await stage(t);
  const created = await ada('POST', '', { path: 'a/b.bin', ref: { name: 'refs/heads/main' } });
  t.match(created, { status: 201, headers: { 'content-type': TYPE } });
  const { lock } = created.json;
  t.match(lock, { path: 'a/b.bin', locked_at: /^2026-01-01T00:00:00Z$/, owner: { name: 'ada' } });
  for (const again of [ada, bob]) {
    const clash = await again('POST', '', { path: 'a/b.bin' });
    t.match([clash.status, clash.json], [409, { lock, message: /already locked/ }]);
  }
  const other = (await bob('POST', '', { path: 'c.bin' })).json.lock;
  t.same((await ada('GET', '')).json, { locks: [lock, other] });
  t.same((await ada('GET', '?path=c.bin&id=&cursor=&limit=&refspec=refs/heads/x')).json, { locks: [other] });
  t.same((await ada('GET', `?id=${lock.id}`)).json, { locks: [lock] });
  t.same((await ada('GET', `?id=${lock.id}&path=c.bin`)).json, { locks: [] });
  t.same((await ada('POST', '/verify', {})).json, { ours: [lock], theirs: [other] });
  t.same((await bob('POST', '/verify', { ref: { name: 'refs/heads/main' } })).json, { ours: [other], theirs: [lock] });

  const denied = await bob('POST', `/${lock.id}/unlock`, {});
  t.match([denied.status, denied.json], [403, { message: /belongs to ada/ }]);
  t.same((await ada('POST', `/${lock.id}/unlock`, { force: false })).json, { lock });
  t.same((await ada('POST', `/${other.id}/unlock`, { force: true })).json, { lock: other });
  t.match(await ada('POST', `/${other.id}/unlock`, {}), { status: 404, json: { message: /has no lock/ } });
  t.same((await ada('GET', '')).json, { locks: [] });
});

t.test('lists are paginated by cursor', async (t) => {
  const { ada } = await stage(t);
  const paths = Array.from({ length: 105 }, (_, at) => `${String(at).padStart(3, '0')}\u0001".bin`);
  for (const path of paths) await ada('POST', '', { path });
  const seen: string[] = [];
  let cursor = '';
  for (const limit of ['2', '1', '1', '0', '99999']) {
    const { json } = await ada('GET', `?limit=${limit}&cursor=${cursor}`);
    seen.push(...json.locks.map(({ path }: { path: string }) => path));
    cursor = json.next_cursor ?? '';
  }
  t.same(seen, paths);
  t.equal(cursor, '');
  const first = (await ada('POST', '/verify', { limit: 104 })).json;
  t.equal(first.ours.length, 100, 'no page is longer than that');
  t.equal((await ada('POST', '/verify', { cursor: first.next_cursor })).json.ours.length, 5);
  t.equal((await ada('GET', '?cursor=made-up')).status, 400);
});

t.test('an invalid lock request is refused; scopes and states are those of a push', async (t) => {
  const { service, ada } = await stage(t, { limits: { maxLfsLocks: 1 } });
  const bodies = [
    undefined,
    {},
    { path: '' },
    { path: 1 },
    { path: '/etc' },
    { path: 'a\0b' },
    { path: 'x'.repeat(4097) },
  ];
  for (const body of [...bodies, { path: '\ud800' }, { path: 'a', ref: 'main' }, []]) {
    const options = body === undefined ? { headers: { 'content-type': TYPE } } : {};
    const response = await ada('POST', '', body, options);
    t.equal(response.status, 422, JSON.stringify(body)?.slice(0, 50));
    t.match([response.headers['content-type'], response.json], [TYPE, { message: /\S/ }]);
  }
  t.equal((await ada('GET', '?limit=-1')).status, 400);
  t.equal((await ada('POST', '/verify', { limit: 1.5 })).status, 422);
  t.equal((await ada('POST', '/x/unlock', { force: 'yes' })).status, 422);
  const { lock } = (await ada('POST', '', { path: 'a' })).json;
  t.match(await ada('POST', '', { path: 'b' }), { status: 507, json: { message: /already has 1 locks/ } });
  t.equal((await ada('GET', '', undefined, { headers: { accept: 'text/html' } })).status, 406);
  t.match(await ada('DELETE', ''), { status: 405, headers: { allow: 'GET, HEAD, POST' } });

  const rows: [string, string, unknown][] = [
    ['GET', '', undefined],
    ['POST', '', { path: 'c' }],
    ['POST', '/verify', {}],
    ['POST', `/${lock.id}/unlock`, {}],
  ];
  for (const [method, path, json] of rows) {
    const reads = method === 'GET';
    const scopes = [reads ? 'git:write' : 'git:read'];
    t.equal((await send(service, method, path, json, { scopes })).status, 403, `${method} ${path}: scope`);
    const syncing = { headers: { 'x-emulator-fault': 'sync_in_progress' } };
    const status = reads || path === '/verify' ? 200 : 409;
    t.equal((await ada(method, path, json, syncing)).status, status, `${method} ${path}: syncing`);
  }
  await service.call('DELETE', '/api/repos/team%2Fapp');
  await service.call('POST', '/api/repos');
  t.same((await ada('GET', '')).json, { locks: [] }, 'locks go with their repository');
});
