import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { operations } from '../../api/index.js';
import type { GivenOptions } from '../../config/options.js';
import { packOf, pushBody, pushRaw, reportOf } from '../git/raw-push.js';
import { packBody, type Service, type ServiceResponse, startService } from '../service.js';
import { stateDigest } from '../world/state-digest.js';

const ZERO = '0'.repeat(40);

async function setUp(t: Test, limits: GivenOptions['limits'] = {}): Promise<Service> {
  const service = await startService({ limits });
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  await service.call('POST', '/api/repos');
  return service;
}

const files = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, 'x']));

t.test('each limit: a value at the limit is accepted, a larger one is refused without effect', async (t) => {
  const rows: Record<
    string,
    [limits: GivenOptions['limits'], status: number, send: (service: Service, over: number) => Promise<ServiceResponse>]
  > = {
    'files of a commit': [{ maxFiles: 3 }, 400, (service, over) => service.commit('team/app', files(3 + over))],
    'bytes of a commit': [
      { maxCommitBytes: 1000 },
      413,
      (service, over) => service.commit('team/app', { f: 'x'.repeat(1000 + over) }),
    ],
    'bytes of a metadata line': [
      { maxMetadataBytes: 1000 },
      400,
      (service, over) => {
        const room = 1000 + over - packBody({}, { commit_message: '' }).trimEnd().length;
        return service.commit('team/app', {}, { commit_message: 'm'.repeat(room) });
      },
    ],
    'bytes of a chunk line': [
      { maxLineBytes: 1000 },
      400,
      (service, over) => {
        const [head, line] = packBody({ f: '' }).trimEnd().split('\n');
        const padded = line!.replace('"data"', `${' '.repeat(1000 + over - line!.length)}"data"`);
        return service.call('POST', '/api/v1/repos/commit-pack', { body: `${head}\n${padded}\n` });
      },
    ],
    'bytes of a JSON body': [
      { maxJsonBytes: 200 },
      413,
      (service, over) => {
        const json = JSON.stringify({ target_branch: 'n', base_ref: 'main' });
        return service.call('POST', '/api/v1/repos/branches/create', {
          body: json + ' '.repeat(200 + over - json.length),
        });
      },
    ],
  };
  for (const [what, [limits, status, send]] of Object.entries(rows)) {
    const service = await setUp(t, limits);
    await service.commit('team/app', {});
    const before = stateDigest(service.world);
    t.equal((await send(service, 1)).status, status, `${what}: one more`);
    t.equal(stateDigest(service.world), before, what);
    const fitting = await send(service, 0);
    t.ok(fitting.status < 300, `${what}: ${fitting.status} ${fitting.text.slice(0, 200)}`);
  }
});

t.test('an object above the limit is refused, and its memory is released', async (t) => {
  const service = await setUp(t, { maxObjectBytes: 1000 });
  await service.commit('team/app', {});
  const { world } = service;
  const before = stateDigest(world, { memory: false });
  const held = world.engine.memory.used;
  const refused = await service.commit('team/app', { a: 'small', f: 'x'.repeat(1001) });
  t.match(refused, { status: 413, json: { code: 'payload_too_large', detail: /1001 bytes.* 1000 bytes/ } });
  t.equal(stateDigest(world, { memory: false }), before);
  t.ok(world.engine.memory.used <= held, `${world.engine.memory.used} bytes, ${held} before`);
  t.equal((await service.commit('team/app', { f: 'x'.repeat(1000) })).status, 201);
});

t.test('a full store refuses API writes and pushes, keeps serving, and has room after a deletion', async (t) => {
  const service = await setUp(t, { maxHeldBytes: 1_000_000 });
  const { world } = service;
  await service.seed('full');
  const grow = (n: number, repo: string) => service.commit(repo, { f: Buffer.alloc(100_000, n) });
  let refused = await grow(0, 'full');
  for (let n = 1; n < 20 && refused.status === 201; n++) refused = await grow(n, 'full');
  t.match(refused, { status: 503, json: { code: 'service_unavailable' }, headers: { 'retry-after': /\d/ } });
  const held = world.engine.memory.used;
  t.ok(held <= 1_000_000);
  t.equal((await grow(20, 'team/app')).status, 503, 'the bound is of all repositories together');
  const { randomFillSync } = await import('node:crypto');
  const blob = { type: 'blob', body: randomFillSync(Buffer.alloc(900_000)) } as const;
  const body = pushBody([{ ref: 'refs/heads/x', old: ZERO, new: '1'.repeat(40) }], packOf([blob]));
  t.match(reportOf(await pushRaw(service, 'team/app', body)), [/^unpack .*memory limit/, /^ng refs\/heads\/x/]);
  t.equal(world.engine.memory.used, held, 'nothing of either is held');
  t.equal((await service.call('GET', '/api/v1/repos/file?path=f', { repo: 'full' })).status, 200, 'reads go on');
  t.equal((await service.call('DELETE', '/api/v1/repos/delete', { repo: 'full' })).status < 300, true);
  t.equal((await grow(20, 'team/app')).status, 201);
});

t.test('a compressed Git request is limited after decompression', async (t) => {
  const service = await setUp(t, { maxPushBytes: 100_000 });
  for (const name of ['git-receive-pack', 'git-upload-pack']) {
    const headers = { 'content-type': `application/x-${name}-request`, 'content-encoding': 'gzip' };
    const bomb = gzipSync(Buffer.alloc(70_000_000, '0004'));
    const response = await service.call('POST', `/team/app.git/${name}`, { body: bomb, headers });
    t.match(
      response.status === 200 ? /ERR/.exec(response.text)?.[0] : response.status,
      /^(413|ERR)$/,
      `${name}: ${response.status}`,
    );
  }
  t.equal(service.world.engine.memory.used, 0);
});

t.test('at the maximum number of connections, new ones are closed and existing ones continue', async (t) => {
  const service = await setUp(t, { maxSockets: 4 });
  const { hostname, port } = new URL(service.url);
  const dial = () => connect(Number(port), hostname);
  const sockets = Array.from({ length: 8 }, dial);
  const closed = await Promise.all(
    sockets.map((socket) =>
      Promise.race([
        once(socket, 'close').then(
          () => true,
          () => true,
        ),
        new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 500)),
      ]),
    ),
  );
  t.ok(closed.filter(Boolean).length >= 4, 'not all are kept');
  t.equal((await service.call('GET', '/api/repos?limit=1', { scopes: ['org:read'] })).status, 200);
  for (const socket of sockets) socket.destroy();
});

t.test('DNS rebinding reaches no route, and no route allows other origins', async (t) => {
  const service = await setUp(t);
  const before = stateDigest(service.world);
  for (const { method, path } of operations.flatMap(({ routes }) => routes)) {
    const target = path
      .replace('{repo_name}', path.includes('.git/') ? 'team/app' : 'team%2Fapp')
      .replace(/\{\w+\}/g, 'x');
    const led = await service.call(method, target, { headers: { host: 'evil.example' } });
    t.equal(led.status, 403, `${method} ${path}`);
    const headers = { origin: 'http://evil.example', 'access-control-request-method': method };
    const asked = await service.call('OPTIONS', target, { headers });
    t.equal(asked.status, 405, `OPTIONS ${path}`);
    const shown = [...Object.keys(led.headers), ...Object.keys(asked.headers)];
    t.notOk(
      shown.some((name) => name.startsWith('access-control-')),
      path,
    );
  }
  t.equal(stateDigest(service.world), before);
});
