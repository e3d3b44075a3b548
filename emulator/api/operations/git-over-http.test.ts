import { Readable } from 'node:stream';
import t from 'tap';
import { KeyRing } from '../../auth/keys.js';
import { bytesOf } from '../../git/object/bytes.js';
import { ObjectStore } from '../../git/odb/object-store.js';
import type { GitRepository } from '../../git/repository/repository.js';
import { createRepository } from '../../git/test/memory-repository.js';
import { Problem } from '../../http/problem.js';
import type { Reply } from '../../http/reply.js';
import { MemoryCache } from '../../memory/memory-cache.js';
import type { HandlerContext } from '../../operation/operation.js';
import { repositoryNotFound } from '../../repositories/lifecycle.js';
import { Meter } from '../../schedule/meter.js';
import { keepAlive, PackCache } from '../../smart-http/pack-sender.js';
import { CurrentWorld } from '../../world/current-world.js';
import { gitInfoRefs, gitReceivePack, gitUploadPack } from './git-over-http.js';

const { world } = new CurrentWorld({ organizations: [] });
const record = { state: 'active' };
const git = createRepository(bytesOf('main'), new ObjectStore(), () => {
  if (record.state === 'deleted') throw repositoryNotFound();
});

function callOf<T>(parts: { namespace?: string; service?: string; type?: string; body?: string }): T {
  const { namespace = '', service, type = '', body = '' } = parts;
  const call: Partial<HandlerContext> = {
    world,
    repository: { git, record } as unknown as HandlerContext['repository'],
    params: { repo_name: 'r', namespace },
    query: { ...(service !== undefined && { service }) },
    claims: { policy: [] } as unknown as HandlerContext['claims'],
    organization: { keys: new KeyRing([]) } as unknown as HandlerContext['organization'],
    header: (name) => (name === 'content-type' ? type : undefined),
    stream: () => Readable.from([Buffer.from(body)]),
    signal: new AbortController().signal,
    meter: new Meter({ schedule: world.engine.schedule }),
  };
  return call as T;
}

const outcome = async (run: () => Reply | Promise<Reply>) => {
  try {
    return (await run()).status;
  } catch (error) {
    if (error instanceof Problem) return `${error.status} ${error.code}`;
    throw error;
  }
};

t.test('info/refs requires the scope of the requested service', async (t) => {
  const scopesOf = (service?: string) =>
    gitInfoRefs.purposeOf!(new URLSearchParams(service === undefined ? {} : { service }), undefined).scopes;
  t.same(scopesOf('git-upload-pack'), ['git:read']);
  t.same(scopesOf('git-receive-pack'), ['git:write']);
  t.same(scopesOf(), ['git:read']);
  t.same(scopesOf('nonsense'), ['git:read']);
});

t.test('an unknown service is refused with 403, as gitprotocol-http requires', async (t) => {
  const ask = (service?: string, namespace = '') =>
    outcome(() => gitInfoRefs.handle(callOf({ namespace, ...(service !== undefined && { service }) })));
  t.equal(await ask('git-upload-pack'), 200);
  t.equal(await ask('git-receive-pack'), 200);
  t.equal(await ask('git-upload-archive'), '403 forbidden');
  t.equal(await ask(), '403 forbidden', 'the dumb protocol');
  t.equal(await ask('git-upload-pack', 'ephemeral'), 200);
});

t.test('a world has one Git service, whose agent contains the version of the package', async (t) => {
  t.equal(world.engine.gitService, world.engine.gitService);
  t.not(new CurrentWorld({ organizations: [] }).world.engine.gitService, world.engine.gitService);
  const { bytes } = await gitInfoRefs.handle(callOf({ service: 'git-receive-pack' }));
  t.match(bytes!.toString(), /agent=repohost-emulator\/\d+\.\d+\.\d+/);
});

t.test('the import remote accepts only pushes', async (t) => {
  const advertised = (service: string) => outcome(() => gitInfoRefs.handle(callOf({ namespace: 'import', service })));
  t.equal(await advertised('git-receive-pack'), 200);
  t.equal(await advertised('git-upload-pack'), '403 forbidden');
  const type = 'application/x-git-upload-pack-request';
  t.equal(
    await outcome(() => gitUploadPack.handle(callOf({ namespace: 'import', type, body: '0000' }))),
    '403 forbidden',
  );
  t.equal(await outcome(() => gitUploadPack.handle(callOf({ type, body: '0000' }))), 200);
});

t.test('a push is refused if the repository was deleted while the pack arrived', async (t) => {
  const type = 'application/x-git-receive-pack-request';
  const line = `${'1'.repeat(40)} ${'0'.repeat(40)} refs/heads/a\0report-status`;
  const body = `${(line.length + 4).toString(16).padStart(4, '0')}${line}0000`;
  t.equal(await outcome(() => gitReceivePack.handle(callOf({ type, body }))), 200);
  t.teardown(() => {
    record.state = 'active';
  });
  record.state = 'deleted';
  t.equal(await outcome(() => gitReceivePack.handle(callOf({ type, body }))), '404 repository_not_found');
});

t.test('long work sends keep-alives and keeps its result or its error', async (t) => {
  const sign = Buffer.from('.');
  const run = async (work: Promise<string>) => {
    const signs = keepAlive(work, 5, sign);
    let count = 0;
    for (;;) {
      const next = await signs.next();
      if (next.done) return { count, result: next.value };
      count++;
    }
  };
  t.same(await run(Promise.resolve('at once')), { count: 0, result: 'at once' });
  const slow = await run(new Promise((resolve) => setTimeout(resolve, 60, 'late')));
  t.equal(slow.result, 'late');
  t.ok(slow.count > 0);
  await t.rejects(run(Promise.reject(new Error('no'))), /no/);
});

t.test('the pack cache is limited in bytes and evicts the least recently used pack first', async (t) => {
  const cache = new PackCache(new MemoryCache(100));
  async function* packets(size: number): AsyncIterable<Buffer> {
    for (let at = 0; at < size; at += 10) yield Buffer.alloc(10);
  }
  const send = async (key: string, size: number, max = Number.POSITIVE_INFINITY) => {
    for await (const _ of cache.keeping(git, key, packets(size))) if (--max === 0) return;
  };
  const kept = () => ['a', 'b', 'c', 'd'].filter((key) => cache.get(git, key));
  await send('a', 40);
  await send('b', 40);
  t.same(kept(), ['a', 'b']);
  cache.get(git, 'a');
  await send('c', 40);
  t.same(kept(), ['a', 'c']);
  await send('d', 200);
  await send('b', 40, 2);
  t.same(kept(), ['a', 'c'], 'what is too large, or was not sent to its end, is not kept');
  const other = createRepository();
  t.equal(cache.get(other, 'a'), undefined, 'each repository has its own');
  for await (const _ of cache.keeping(other, 'a', packets(70)));
  t.equal(cache.get(other, 'a')?.length, 7);
  t.same(kept(), [], 'but all share the bytes');

  // Read three packs slowly at the same time. The first two have the same key. The limit applies to the total size of
  // unfinished packs, so the cache keeps only one pack.
  const slow = ['e', 'e', 'f'].map((key) => cache.keeping(git, key, packets(60))[Symbol.asyncIterator]());
  for (let turn = 0; turn < 6; turn++) for (const each of slow) await each.next();
  for (const each of slow) await each.next();
  t.same(
    ['e', 'f'].map((key) => cache.get(git, key)?.length),
    [undefined, 6],
    'what is under way counts together',
  );
  await send('e', 100);
  t.equal(cache.get(git, 'e')?.length, 10, 'and no more when it is done');
});

t.test('a large pack is cached on its second request, and packs of a deleted repository are dropped', async (t) => {
  const cache = new PackCache(new MemoryCache(100 * 1024 * 1024));
  const [git, other] = [createRepository(), createRepository()];
  async function* packets(count: number): AsyncIterable<Buffer> {
    for (let at = 0; at < count; at++) yield Buffer.alloc(100 * 1024);
  }
  const send = async (repository: GitRepository, key: string, count: number) => {
    for await (const _ of cache.keeping(repository, key, packets(count)));
    return cache.get(repository, key)?.length;
  };
  t.equal(await send(git, 'small', 10), 10);
  t.equal(await send(git, 'large', 11), undefined, 'the first time');
  t.equal(await send(git, 'large', 11), 11, 'the second time');
  t.equal(await send(other, 'large', 11), undefined);
  const slow = cache.keeping(git, 'slow', packets(2))[Symbol.asyncIterator]();
  await slow.next();
  t.equal(await send(other, 'small', 10), 10);
  cache.forget(git);
  t.same(
    ['small', 'large', 'slow'].map((key) => cache.get(git, key)),
    [undefined, undefined, undefined],
  );
  while (!(await slow.next()).done);
  t.equal(cache.get(git, 'slow'), undefined, 'what was under way is not kept either');
  t.equal(cache.get(other, 'small')?.length, 10);
});
