import { createHash, randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import type { GivenOptions } from '../../config/options.js';
import { oidOf, packOf, pushBody, pushRaw, type RawObject } from '../git/raw-push.js';
import { WebhookReceiver } from '../operations/webhook-receiver.js';
import { packBody, type Service, startService } from '../service.js';
import { stateDigest } from './state-digest.js';
import { readAll, touchEverything } from './world-story.js';

const ZERO = '0'.repeat(40);

async function stage(t: Test, options: GivenOptions = {}) {
  const receiver = await WebhookReceiver.start();
  const service = await startService({ clock: Date.parse('2026-01-01T00:00:00Z'), ...options });
  t.teardown(async () => {
    await service.emulator.close({ graceMs: 0 });
    await receiver[Symbol.asyncDispose]();
  });
  return { service, receiver };
}

/**
 * Computes the size in bytes of the object stores and LFS objects of the current world (whole state). The emulator's
 * memory budget must report the same number.
 */
function heldByParts({ world }: Service): number {
  let bytes = 0;
  const lfs = new Map<object, number>();
  for (const { content, record } of world.state.repositories.all()) {
    bytes += content.objects.heldBytes;
    for (const object of record.lfsObjects?.values() ?? []) lfs.set(object, object.size + 256);
  }
  for (const size of lfs.values()) bytes += size;
  return bytes;
}

t.test('a restored state has the same responses and continues in the same way, every time', async (t) => {
  const { service, receiver } = await stage(t);
  const { emulator } = service;
  await touchEverything(service, receiver, 'one');
  const id = await emulator.snapshot();
  const requests = emulator.requests();
  const at = emulator.clock.now();
  const read = await readAll(service);
  const next = await touchEverything(service, receiver, 'two');
  const last = await readAll(service);
  t.strictNotSame(read, last);
  for (let time = 0; time < 3; time++) {
    await emulator.restore(id);
    t.strictSame(emulator.requests(), requests, 'the journal');
    t.equal(emulator.clock.now(), at, 'the time');
    t.equal(service.world.engine.memory.used, heldByParts(service), 'the memory adds up');
    t.strictSame(await readAll(service), read, 'what is read');
    t.strictSame(await touchEverything(service, receiver, 'two'), next, 'what is answered from there on');
    t.strictSame(await readAll(service), last);
  }
});

t.test('a reset results in the initial state', async (t) => {
  const { service, receiver } = await stage(t);
  const fresh = stateDigest(service.world);
  const first = await touchEverything(service, receiver, 'one');
  await service.emulator.reset();
  t.equal(stateDigest(service.world), fresh);
  t.same(service.emulator.requests(), []);
  t.equal(service.world.engine.memory.used, 0);
  t.strictSame(await touchEverything(service, receiver, 'one'), first);
  await service.emulator.reset();
  t.equal(service.world.engine.memory.used, 0);
  t.equal(service.world.engine.cachedBytes, 0);
});

t.test('snapshots of different times are restored in any order', async (t) => {
  const { service } = await stage(t);
  const { emulator } = service;
  await service.seed('team/app');
  const ids: string[] = [];
  const digests: string[] = [];
  for (let round = 0; round < 4; round++) {
    ids.push(await emulator.snapshot());
    digests.push((await service.call('GET', '/api/v1/repos/commits')).text);
    if (round === 1) await service.call('DELETE', '/api/repos/team%2Fapp');
    if (round === 1) await service.call('POST', '/api/repos');
    t.equal((await service.commit('team/app', { f: randomBytes(20_000), [`${round}`]: `${round}` })).status, 201);
  }
  for (const round of [3, 0, 2, 1, 1, 3, 0]) {
    await emulator.restore(ids[round]!);
    t.equal((await service.call('GET', '/api/v1/repos/commits')).text, digests[round], `${round}`);
    t.equal((await service.commit('team/app', { [`after ${round}`]: randomBytes(20_000) })).status, 201);
  }
  await t.rejects(emulator.restore('snapshot-none'), /"snapshot-none" does not exist/);
});

t.test('objects added after a snapshot cannot be read by id after a restore', async (t) => {
  const { service } = await stage(t);
  const first = await service.seed('team/app');
  const id = await service.emulator.snapshot();
  const { used } = service.world.engine.memory;
  const written = await service.commit('team/app', { large: randomBytes(500_000) });
  const { commit_sha: second, tree_sha: tree, pack_bytes: bytes } = written.json.commit;
  await service.emulator.restore(id);
  t.ok(service.world.engine.memory.used <= used, 'its memory is free');
  const get = (sha: string) => service.call('GET', `/api/v1/repos/commit?sha=${sha}`);
  t.equal((await get(first)).status, 200);
  t.equal((await get(second)).status, 404);
  const again = await service.commit('team/app', { large: randomBytes(500_000) });
  t.not(again.json.commit.tree_sha, tree);
  t.equal(again.json.commit.pack_bytes, bytes, 'as many new objects as before');
});

t.test('objects of a deleted repository come back, and count again only once', async (t) => {
  const { service } = await stage(t);
  await service.seed('team/app', { large: randomBytes(500_000) });
  const id = await service.emulator.snapshot();
  const { used } = service.world.engine.memory;
  const file = await service.call('GET', '/api/v1/repos/file?path=large');
  await service.call('DELETE', '/api/repos/team%2Fapp');
  t.equal(service.world.engine.memory.used, used, 'the snapshot holds them on');
  await service.emulator.restore(id);
  t.equal(service.world.engine.memory.used, used);
  t.ok((await service.call('GET', '/api/v1/repos/file?path=large')).bytes.equals(file.bytes));
});

t.test('a write in progress gets 503 and has no effect on the restored world', async (t) => {
  const { service } = await stage(t);
  await service.seed('team/app');
  const id = await service.emulator.snapshot();
  const digest = stateDigest(service.world, { memory: false });
  const { used } = service.world.engine.memory;
  /**
   * Returns a request body that pauses in the middle until `go` is called. The request is then in progress during a
   * restore.
   */
  const held = (body: Buffer) => {
    let go = (): void => {};
    let reached = (): void => {};
    const isThere = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    const pieces = async function* () {
      yield body.subarray(0, body.length - 10);
      reached();
      await gate;
      yield body.subarray(body.length - 10);
    };
    return { pieces: pieces(), isThere, go };
  };
  const blob: RawObject = { type: 'blob', body: Buffer.from('late') };
  const entry = Buffer.concat([Buffer.from('100644 f\0'), Buffer.from(oidOf(blob), 'hex')]);
  const tree: RawObject = { type: 'tree', body: entry };
  const who = 'A <a@example.com> 1700000000 +0000';
  const commit: RawObject = {
    type: 'commit',
    body: Buffer.from(`tree ${oidOf(tree)}\nauthor ${who}\ncommitter ${who}\n\nlate\n`),
  };
  const push = pushBody([{ ref: 'refs/heads/late', old: ZERO, new: oidOf(commit) }], packOf([blob, tree, commit]));
  const content = randomBytes(100_000);
  const oid = createHash('sha256').update(content).digest('hex');
  const json = Buffer.from(JSON.stringify({ url: 'http://127.0.0.1:1/', events: ['push'] }));
  const writes = [
    { name: 'commit', body: Buffer.from(packBody({ late: 'late' })), target: 'POST /api/v1/repos/commit-pack' },
    { name: 'push', body: push },
    { name: 'LFS', body: content, target: `PUT /team/app.git/info/lfs/objects/${oid}` },
    { name: 'webhook', body: json, target: 'POST /api/v1/webhooks' },
    { name: 'repository', body: Buffer.from('{"default_branch": "main"  }'), target: 'POST /api/repos', repo: 'late' },
    { name: 'mistake', body: Buffer.from('{"default_branch": "is no JSON'), target: 'POST /api/repos', repo: 'bad' },
  ];
  for (const restore of [() => service.emulator.restore(id), () => service.emulator.reset()]) {
    await service.emulator.restore(id);
    const begun = service.emulator.clock.now() + writes.length;
    const sent = writes.map(({ name, body, target, repo = 'team/app' }) => {
      const { pieces, isThere, go } = held(body);
      const [method, path] = target?.split(' ') ?? [];
      const options = { repo, body: pieces };
      const response = target ? service.call(method!, path!, options) : pushRaw(service, repo, pieces);
      return { name, isThere, go, answer: response };
    });
    await Promise.all(sent.map(({ isThere }) => isThere));
    // Wait until all requests have begun. Each request advances the clock when it begins.
    while (service.emulator.clock.now() < begun) await new Promise(setImmediate);
    while (service.world.engine.memory.used < used + content.length / 2) await new Promise(setImmediate);
    await restore();
    const after = service.world;
    const before = stateDigest(after, { memory: false });
    for (const { go } of sent) go();
    for (const { name, answer: response } of sent) {
      const { status, headers, text } = await response;
      t.equal(status, 503, `${name}: ${text}`);
      t.ok(headers['x-request-id'], name);
    }
    t.equal(stateDigest(after, { memory: false }), before, 'nothing is written');
    t.equal(after.engine.memory.used, Math.max(heldByParts(service), used), 'and nothing is held');
    t.same(service.emulator.requests({ status: 503 }), [], 'nor noted');
  }
  await service.emulator.restore(id);
  t.equal(stateDigest(service.world, { memory: false }), digest);
});

t.test('a read in progress ends in the state in which it began', async (t) => {
  const { service } = await stage(t);
  const { emulator } = service;
  const large = randomBytes(3 << 20);
  await service.call('POST', '/api/repos');
  const empty = await emulator.snapshot();
  const written = await service.commit('team/app', { a: randomBytes(3 << 20), b: randomBytes(3 << 20), large });
  t.equal(written.status, 201);
  const token = await service.token({ repo: 'team/app' });
  const { request } = await import('undici');
  const response = await request(`${service.url}/api/v1/repos/archive`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{}',
  });
  t.equal(response.statusCode, 200);
  await emulator.restore(empty);
  t.equal((await service.call('GET', '/api/v1/repos/file?path=large')).status, 404);
  const bytes = Buffer.from(await response.body.arrayBuffer());
  const { gunzipSync } = await import('node:zlib');
  t.ok(gunzipSync(bytes).includes(large), 'all of it');
});

t.test('counters of faults belong to the world, whatever the port of a request', async (t) => {
  const { service } = await stage(t, { org: ['demo', 'other'] });
  await service.seed('team/app');
  const id = await service.emulator.snapshot();
  const ask = async (host: string) => {
    const headers = { 'x-emulator-fault': 'repository_thawing*2', host };
    const { request } = await import('undici');
    const authorization = `Bearer ${await service.token({ repo: 'team/app' })}`;
    const port = host === '' ? service.emulator.orgs[0]! : service.emulator.orgs[1]!;
    const { statusCode, body } = await request(`${port.baseUrl}/api/v1/repo`, {
      headers: { ...headers, authorization, host: 'api.demo.localhost' },
    });
    await body.dump();
    return statusCode;
  };
  for (let time = 0; time < 2; time++) {
    t.same([await ask(''), await ask('other'), await ask(''), await ask('other')], [409, 409, 200, 200]);
    await service.emulator.restore(id);
  }
});

t.test('pending deliveries continue after a restore', async (t) => {
  const { service, receiver } = await stage(t);
  receiver.status = () => 500;
  await service.call('POST', '/api/v1/webhooks', { json: { url: receiver.url, events: ['push'] } });
  await service.seed('team/app');
  await receiver.until(1);
  const attempts = () => [...service.world.state.deliveries.all()].map((delivery) => delivery.attempts.length);
  while (attempts()[0] !== 1) await new Promise(setImmediate);
  const id = await service.emulator.snapshot();
  for (let time = 0; time < 2; time++) {
    await service.emulator.clock.advance(1_000);
    while (attempts()[0] !== 2) await new Promise(setImmediate);
    await service.emulator.restore(id);
    t.same(attempts(), [1]);
  }
  t.equal(receiver.received.length, 3);
});

t.test(
  'a repository is archived until the next request asks for it, and a restore brings its state back',
  async (t) => {
    const { service } = await stage(t);
    const { state } = service.emulator;
    await service.seed('team/app');
    const stateOf = () => state.read().repositories['team/app']?.state;
    t.equal(stateOf(), 'active');
    state.change({ repositories: { 'team/app': { state: 'archived' } } });
    const id = await service.emulator.snapshot();
    t.match(await service.call('GET', '/api/v1/repo'), { status: 409, json: { code: 'repository_thawing' } });
    t.equal(stateOf(), 'thawing');
    await service.emulator.restore(id);
    t.equal(stateOf(), 'archived');
    state.change({ repositories: { 'team/app': { state: 'active' } } });
    t.equal((await service.call('GET', '/api/v1/repo')).status, 200);
    await service.call('DELETE', '/api/repos/team%2Fapp');
    t.equal(stateOf(), undefined);
    t.throws(() => state.change({ repositories: { 'team/app': { state: 'active' } } }), /repository .* does not exist/);
  },
);

t.test('restores during many writes leave no trace of these writes', async (t) => {
  const { service } = await stage(t);
  await service.seed('team/app', { large: randomBytes(100_000) });
  await service.call('PUT', `/team/app.git/info/lfs/objects/${sha256('kept')}`, { body: 'kept' });
  const id = await service.emulator.snapshot();
  const digest = stateDigest(service.world, { memory: false });
  let isOver = false;
  const statuses = new Set<number>();
  const writer = async (number: number) => {
    for (let round = 0; !isOver; round++) {
      const name = `${number}/${round}`;
      const repo = `r${number}`;
      const requests = [
        () => service.commit('team/app', { [name]: randomBytes(50_000) }),
        () => service.call('POST', '/api/repos', { repo }),
        () => service.commit(repo, { name: randomBytes(10_000) }),
        () => service.call('PUT', `/${repo}.git/info/lfs/objects/${sha256(name)}`, { repo, body: name }),
        () => service.call('POST', '/api/v1/repos/grep', { json: { query: { pattern: 'a' } } }),
        () =>
          service.call('DELETE', `/api/repos/${number === 0 ? 'team%2Fapp' : repo}`, {
            repo: number === 0 ? 'team/app' : repo,
          }),
      ];
      for (const request of requests) statuses.add((await request()).status);
    }
  };
  const writers = Array.from({ length: 8 }, (_, number) => writer(number));
  for (let time = 0; time < 40; time++) {
    const written = service.world.state.requests.snapshot() + 10 + time;
    while (service.world.state.requests.snapshot() < written) await new Promise(setImmediate);
    await (time % 5 === 4 ? service.emulator.reset() : service.emulator.restore(id));
  }
  isOver = true;
  await Promise.all(writers);
  await service.emulator.restore(id);
  t.equal(stateDigest(service.world, { memory: false }), digest);
  t.equal(service.world.engine.memory.used, heldByParts(service), 'the memory adds up');
  const unexpected = [...statuses].filter((status) => ![200, 201, 404, 409, 503].includes(status));
  t.same(unexpected, []);
  t.ok(statuses.has(503) && statuses.has(201));
});

function sha256(content: string): string {
  return createHash('sha256').update(content).digest('hex');
}
