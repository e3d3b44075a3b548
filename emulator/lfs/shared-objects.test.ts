import { createHash, randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { type Service, startService } from '../test/service.js';

const oidOf = (content: Buffer) => createHash('sha256').update(content).digest('hex');
const pathOf = (repo: string, content: Buffer) => `/${repo}.git/info/lfs/objects/${oidOf(content)}`;

async function stage(t: Test): Promise<Service> {
  const service = await startService();
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  return service;
}

async function put(service: Service, repo: string, content: Buffer): Promise<void> {
  const response = await service.call('PUT', pathOf(repo, content), { repo, body: content });
  if (response.status !== 200) throw new Error(`${response.status}: ${response.text}`);
}

async function has(service: Service, repo: string, content: Buffer): Promise<boolean> {
  const response = await service.call('GET', pathOf(repo, content), { repo });
  return response.status === 200 && response.bytes.equals(content);
}

async function copy(service: Service, from: string, to: string, rest: object = {}): Promise<void> {
  const base_repo = {
    provider: 'code',
    operation: 'fork',
    name: from,
    auth: { token: await service.token({ repo: from }) },
  };
  const response = await service.call('POST', '/api/repos', {
    repo: to,
    json: { base_repo: { ...base_repo, ...rest } },
  });
  if (response.status !== 201) throw new Error(`${response.status}: ${response.text}`);
}

async function remove(service: Service, repo: string): Promise<void> {
  const response = await service.call('DELETE', `/api/repos/${encodeURIComponent(repo)}`, { repo });
  if (response.status !== 200) throw new Error(`${response.status}: ${response.text}`);
}

t.test('forks and snapshots share the objects of their source, which count once', async (t) => {
  const service = await stage(t);
  const { world } = service;
  const [first, late, own] = [randomBytes(100_000), randomBytes(50_000), randomBytes(20_000)];
  await service.seed('team/app');
  await put(service, 'team/app', first);
  const git = world.engine.memory.used - first.length;
  await copy(service, 'team/app', 'fork');
  await copy(service, 'team/app', 'snapshot', { operation: 'snapshot', provider: 'code.storage', ref: 'main' });
  t.ok(world.engine.memory.used < first.length + 10 * git, 'no second copy');
  t.ok((await has(service, 'fork', first)) && (await has(service, 'snapshot', first)));

  await put(service, 'team/app', late);
  await put(service, 'fork', own);
  t.notOk(await has(service, 'fork', late), 'what the source gets later is its own');
  t.notOk(await has(service, 'team/app', own));

  const before = world.engine.memory.used;
  await remove(service, 'team/app');
  t.ok(
    before - world.engine.memory.used > late.length && before - world.engine.memory.used < late.length + 10_000,
    'its own is free',
  );
  t.ok(await has(service, 'fork', first), 'what others hold is not');
  await remove(service, 'snapshot');
  t.ok(world.engine.memory.used > first.length + own.length);
  await remove(service, 'fork');
  t.equal(world.engine.memory.used, 0, 'free with the last that held it');
});

t.test('a fork of a repository without commits has its objects too; locks are not shared', async (t) => {
  const service = await stage(t);
  await service.call('POST', '/api/repos');
  const content = randomBytes(1000);
  await put(service, 'team/app', content);
  const type = 'application/vnd.git-lfs+json';
  const locked = await service.call('POST', '/team/app.git/info/lfs/locks', {
    json: { path: 'a' },
    headers: { 'content-type': type },
  });
  t.equal(locked.status, 201);
  await copy(service, 'team/app', 'fork');
  t.ok(await has(service, 'fork', content));
  t.same((await service.call('GET', '/fork.git/info/lfs/locks', { repo: 'fork' })).json, { locks: [] });
});

t.test('a snapshot is not affected by later uploads', async (t) => {
  const service = await stage(t);
  const { world } = service;
  await service.call('POST', '/api/repos');
  const [one, two] = [randomBytes(10), randomBytes(20)];
  await put(service, 'team/app', one);
  const { id } = world.state.repositories.find('demo', 'team/app')!;
  const before = world.snapshot();
  await put(service, 'team/app', two);
  await remove(service, 'team/app');
  const { lfsObjects } = before.repositories.records.byId.get(id)!;
  t.equal(lfsObjects!.size, 1);
  t.ok(Buffer.concat(lfsObjects!.get(oidOf(one))!.blocks).equals(one));
});
