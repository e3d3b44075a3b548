import { createServer } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t, { type Test } from 'tap';
import { Pool } from 'undici';
import type { Emulator, Namespace } from '../../library/emulator.js';
import { START, startAdmin } from '../admin/admin-service.js';
import { packBody, type Service, startService } from '../service.js';

/** Client of one namespace. An emulator can have several namespaces, which are services with their own state. */
interface World {
  get(target: string, headers?: Record<string, string>): Promise<{ status: number; json: Json; id: string | null }>;
  commit(name: string): Promise<{ status: number; json: Json }>;
}
// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever members it expects
type Json = any;

async function openWorld(t: Test, service: Service, url: string): Promise<World> {
  const pool = new Pool(url);
  t.teardown(() => pool.close());
  const authorization = `Bearer ${await service.token({ repo: 'team/app' })}`;
  const ask = async (method: 'GET' | 'POST', path: string, body: Buffer | string | null, headers = {}) => {
    const response = await pool.request({ method, path, body, headers: { authorization, ...headers } });
    const text = await response.body.text();
    const json = text.startsWith('{') ? JSON.parse(text) : undefined;
    return { status: response.statusCode, json, id: String(response.headers['x-request-id']) };
  };
  return {
    get: (target, headers) => ask('GET', target, null, headers),
    commit: (name) => ask('POST', '/api/v1/repos/commit-pack', Buffer.from(packBody({ [name]: name }, {}))),
  };
}

async function start(t: Test, options = {}): Promise<{ service: Service; emulator: Emulator }> {
  const service = await startService({ clock: START, ...options });
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  return { service, emulator: service.emulator };
}

t.test('copies of a snapshot share its content but no changes', async (t) => {
  const { service, emulator } = await start(t);
  await service.seed('team/app');
  const snapshot = await emulator.snapshot();
  await service.commit('team/app', { later: 'in the first world only' });
  const [one, two] = [await emulator.namespace({ snapshot }), await emulator.namespace({ snapshot })];
  const worlds = [await openWorld(t, service, one.baseUrl), await openWorld(t, service, two.baseUrl)] as const;
  const files = async ({ get }: World) => (await get('/api/repos/team%2Fapp/files')).json.paths;
  t.same(await files(worlds[0]), ['README.md']);
  t.equal((await worlds[0].commit('one')).status, 201);
  t.same(await files(worlds[0]), ['README.md', 'one']);
  t.same(await files(worlds[1]), ['README.md']);
  t.equal(one.requests().length - 1, two.requests().length + 1, 'each has a journal of its own');

  one.quotas.change({ q: { capacity: 1, refill: '1/1h' } });
  one.state.change({ limits: { maxMetadataCommits: 0 }, organizations: { demo: { hosting: 'off' } } });
  await one.clock.freeze('2040-01-01T00:00:00Z');
  t.same(two.quotas.read(), {});
  t.equal(two.state.read().organizations.demo!.hosting, 'on');
  t.ok(two.clock.now() < Date.parse('2027-01-01'));
  await one.reset();
  t.same(await files(worlds[0]), ['README.md'], 'a reset puts it back to where it started');
  t.equal((await service.call('GET', '/api/repos/team%2Fapp/files')).json.paths.length, 2);
  await two.close();
  await t.rejects(fetch(two.baseUrl), 'its port is closed');
  t.equal((await service.call('GET', '/api/v1/repo')).status, 200);
});

t.test('an empty namespace equals a new emulator: the same seed and clock give the same bytes', async (t) => {
  const { service, emulator } = await start(t);
  const story = async (namespace: Namespace) => {
    const { get, commit } = await openWorld(t, service, namespace.baseUrl);
    const created = await fetch(`${namespace.baseUrl}/api/repos`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await service.token({ repo: 'team/app' })}` },
    });
    const { repo_id: id } = (await created.json()) as { repo_id: string };
    const { json } = await commit('a');
    return [id, json.commit.commit_sha, (await get('/api/v1/repo')).id, namespace.clock.now()];
  };
  await service.seed('other');
  const first = await story(await emulator.namespace());
  t.same(await story(await emulator.namespace()), first);
  const [id, sha] = await story(await emulator.namespace({ seed: '2' }));
  t.not(id, first[0], 'another seed, other ids');
  t.equal(sha, first[1]);
  t.not(
    (await story(await emulator.namespace({ clock: '2026-06-01T00:00:00Z' })))[1],
    sha,
    'another clock, other commits',
  );
  const small = await emulator.namespace({ limits: { maxMetadataCommits: 3 }, variants: { restoreNoop: '412' } });
  t.match(small.state.read(), {
    limits: { maxMetadataCommits: 3, maxFiles: 100_000 },
    variants: { restoreNoop: '412' },
  });
  for (const [options, sentence] of [
    [{ clock: 'noon' }, /clock must be/],
    [{ limits: { maxFile: 1 } }, /maxFile/],
    [{ limits: { maxHeldBytes: 1 } }, /limits\.maxHeldBytes is a limit of the whole process/],
    [{ variants: { restoreNoop: '500' } }, /restoreNoop/],
    [{ snapshot: 'snapshot-9' }, /snapshot: the snapshot "snapshot-9" does not exist/],
  ] as const)
    await t.rejects(emulator.namespace(options as never), sentence);
});

t.test('namespaces are created, listed, shown and removed over HTTP, and each has its own routes', async (t) => {
  const { admin, service, seed, url } = await startAdmin(t, { org: ['demo', 'other'] });
  await seed('team/app');
  const { json: snapshot } = await admin('POST', '/snapshots', {});
  const made = await admin('POST', '/namespaces', { snapshot: snapshot.id, clock: '2026-06-01T00:00:00Z' });
  t.match(made, { status: 201, json: { id: 'ns-1', org: 'demo', pid: process.pid, key_id: 'es256' } });
  t.equal(made.json.orgs.length, 2);
  t.equal(made.json.admin_url, `${made.json.base_url}/_emulator`);
  t.not(made.json.base_url, url);
  t.same((await admin('GET', '/namespaces')).json, { items: [made.json], next_cursor: null, has_more: false });
  t.same((await admin('GET', '/namespaces/ns-1')).json, made.json);
  const clock = (await (await fetch(`${made.json.admin_url}/clock`)).json()) as Json;
  t.match(clock, { mode: 'tick', now: /^2026-06/ });
  t.match((await admin('GET', '/clock')).json, { now: /^2026-01/ });

  const host = { host: 'ns-1.ns.localhost' };
  const before = service.emulator.requests().length;
  const read = await service.call('GET', '/api/v1/repo', { headers: host });
  t.match(read, { status: 200, headers: { date: /Jun 2026/ } }, 'the first port passes on what names it');
  t.equal(service.emulator.requests().length, before);
  t.match((await admin('GET', '/clock', undefined, { headers: host })).json, { now: /^2026-06/ });
  const unknown = await service.call('GET', '/api/v1/repo', { headers: { host: 'ns-2.ns.localhost' } });
  t.match(unknown, { status: 403, json: { code: 'forbidden' } }, 'and serves nothing in the name of another');
  const inside = await openWorld(t, service, made.json.base_url);
  t.equal((await inside.get('/api/v1/repo', { host: 'ns-2.ns.localhost' })).status, 403);
  t.match(await inside.get('/_emulator/namespaces'), { status: 200, json: { items: [] } }, 'it made none');

  t.equal((await admin('DELETE', '/namespaces/ns-1')).status, 204);
  t.equal((await admin('DELETE', '/namespaces/ns-1')).status, 404);
  t.equal((await admin('GET', '/namespaces/ns-1')).status, 404);
  t.equal((await service.call('GET', '/api/v1/repo', { headers: host })).status, 403);
  for (const [body, detail] of [
    [{ snapshot: 'none' }, /snapshot: the snapshot "none" does not exist/],
    [{ limits: { maxSocket: 1 } }, /maxSocket/],
    [{ seed: 1 }, /^seed/],
    [{ port: 1 }, /"port"/],
  ] as const)
    t.match(await admin('POST', '/namespaces', body), { status: 400, json: { detail } }, JSON.stringify(body));
  const again = await admin('POST', '/namespaces', {});
  t.match(again.json, { id: 'ns-2' });
  await fetch(`${again.json.admin_url}/shutdown`, { method: 'POST' });
  for (let turn = 0; (await admin('GET', '/namespaces')).json.items.length > 0; turn++) {
    if (turn > 1000) throw new Error('a namespace that is shut down is removed');
  }
});

t.test('a namespace is forked from a snapshot that was taken in another one', async (t) => {
  const { admin, emulator, url } = await startAdmin(t);
  const { json: first } = await admin('POST', '/namespaces', { seed: 'own', limits: { maxFiles: 7 } });
  const ask = async (base: string, method: string, path: string, body?: object) => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(base + path, { method, ...(body && { headers, body: JSON.stringify(body) }) });
    return { status: response.status, json: (await response.json()) as Json };
  };
  await ask(first.admin_url, 'POST', '/repositories', { name: 'of/the-first' });
  const { json: snapshot } = await ask(first.admin_url, 'POST', '/snapshots', {});
  await ask(first.admin_url, 'POST', '/repositories', { name: 'later' });
  const forked = await ask(first.admin_url, 'POST', '/namespaces', { snapshot: snapshot.id });
  t.match(forked, { status: 201, json: { id: 'ns-2' } });
  t.notOk([first.base_url, url].includes(forked.json.base_url));
  const namesOf = async (base: string) =>
    (await ask(base, 'GET', '/repositories')).json.items.map(({ name }: { name: string }) => name);
  t.same(await namesOf(forked.json.admin_url), ['of/the-first']);
  t.match((await ask(forked.json.admin_url, 'GET', '/state')).json, { limits: { maxFiles: 7 } }, 'with its options');
  t.equal((await admin('DELETE', '/namespaces/ns-1')).status, 204);
  t.same(await namesOf(forked.json.admin_url), ['of/the-first'], 'it does not go with the one it was made of');
  t.same((await admin('GET', '/namespaces')).json.items, [forked.json], 'it is listed where the emulator started');
  const made = await ask(forked.json.admin_url, 'POST', '/namespaces', {});
  t.same((await ask(forked.json.admin_url, 'GET', '/namespaces')).json.items, [made.json], 'and where it was made');
  t.equal(
    (await ask(forked.json.admin_url, 'GET', '/namespaces/ns-2')).status,
    404,
    'a namespace does not list itself',
  );
  const removed = await fetch(`${forked.json.admin_url}/namespaces/${made.json.id}`, { method: 'DELETE' });
  t.equal(removed.status, 204);
  const begun = await ask(forked.json.admin_url, 'POST', '/namespaces', {});
  t.same(
    [begun.status, await namesOf(begun.json.admin_url)],
    [201, []],
    'without a snapshot it begins as the emulator',
  );
  t.match(await ask(forked.json.admin_url, 'POST', '/namespaces', { snapshot: 'none' }), { status: 400 });

  const namespace = await emulator.namespace();
  await namespace.repository('x').seed({ a: 'a' });
  const seeded = await namespace.snapshot();
  await using copy = await namespace.namespace({ snapshot: seeded });
  t.match(copy.state.read().repositories, { x: { state: 'active' } });
  await namespace.close();
  t.match(copy.state.read().repositories, { x: { state: 'active' } });
});

t.test('ports come from the given range; if none is free, the response is 503', async (t) => {
  const free = await new Promise<number>((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
  const { emulator } = await start(t, { namespacePorts: `${free}` });
  const one = await emulator.namespace();
  t.equal(one.gitHost, `127.0.0.1:${free}`);
  await t.rejects(emulator.namespace(), { code: 'service_unavailable' });
  await one.close();
  t.equal((await emulator.namespace()).gitHost, one.gitHost);
});

t.test('removing a namespace releases its memory', { timeout: 120_000 }, async (t) => {
  const { service, emulator } = await start(t);
  await service.seed('team/app', { 'large.bin': Buffer.alloc(100_000, 'x') });
  const snapshot = await emulator.snapshot();
  const { memory } = service.world.engine;
  const held = memory.used;
  const collect = garbageCollector();
  const rounds = async (count: number) => {
    for (let made = 0; made < count; made += 50) {
      const all = await Promise.all(Array.from({ length: 50 }, () => emulator.namespace({ snapshot })));
      await Promise.all(all.map((namespace) => namespace.close({ graceMs: 0 })));
    }
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = await rounds(500);
  const after = await rounds(4_500);
  t.equal(memory.used, held);
  t.ok(after - before < 20 * 2 ** 20, `${Math.round((after - before) / 1024)} KiB more after 4,500 more`);
});

t.test(
  '300 copies of a world, each with a commit of its own, hold little more than one',
  { timeout: 120_000 },
  async (t) => {
    const { service, emulator } = await start(t);
    const files = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`f${n}`, Buffer.alloc(500_000, String(n))]));
    await service.seed('team/app', files);
    const snapshot = await emulator.snapshot();
    const { memory } = service.world.engine;
    const held = memory.used;
    const authorization = `Bearer ${await service.token({ repo: 'team/app' })}`;
    const tips = new Set<string>();
    for (let made = 0; made < 300; made += 20) {
      await Promise.all(
        Array.from({ length: 20 }, async (_, index) => {
          const { baseUrl } = await emulator.namespace({ snapshot });
          const response = await fetch(`${baseUrl}/api/v1/repos/commit-pack`, {
            method: 'POST',
            headers: { authorization },
            body: packBody({ own: String(made + index) }, {}),
          });
          tips.add(((await response.json()) as Json).commit.commit_sha);
        }),
      );
    }
    t.equal(tips.size, 300);
    const each = (memory.used - held) / 300;
    t.ok(each < 16 * 1024, `${Math.round(each)} bytes each, beside ${held}`);
  },
);

function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}
