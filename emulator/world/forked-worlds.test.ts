import v8 from 'node:v8';
import { runInNewContext } from 'node:vm';
import t, { type Test } from 'tap';
import { KeyRing } from '../auth/keys.js';
import { bytesOf } from '../git/object/bytes.js';
import { writeCommit } from '../git/object/commit.js';
import { BLOB, COMMIT, type Oid, TREE, ZERO_OID } from '../git/object/object.js';
import { writeTree } from '../git/object/tree.js';
import { History } from '../git/revwalk/history.js';
import { heldBytesOf } from '../repositories/lfs-objects.js';
import type { Repository } from '../repositories/repository.js';
import { unlimited } from '../schedule/test/unlimited.js';
import { CurrentWorld } from './current-world.js';

const MAIN = bytesOf('refs/heads/main');
const START = Date.parse('2026-01-01T00:00:00Z');
const organization = {
  name: 'demo',
  keys: new KeyRing([]),
  authenticationAvailable: true,
  hostingEnabled: true,
  forgeApps: 1,
};
const author = { name: 'A', email: 'a@example.com', seconds: 1_700_000_000, offset: '+0000' };

function start(t: Test): CurrentWorld {
  const root = new CurrentWorld({ organizations: [organization], clock: START });
  t.teardown(() => root.close());
  return root;
}

function create(current: CurrentWorld, name = 'r'): Repository {
  return current.world.state.repositories.create('demo', name, { defaultBranch: 'main' });
}

function find(current: CurrentWorld, name = 'r'): Repository {
  return current.world.state.repositories.find('demo', name)!;
}

function tipOf({ git }: Repository): Oid | undefined {
  return git.refs.get(MAIN);
}

/** Commits a file with this text to `main`. Returns the id of the commit. */
function commit(repository: Repository, text: string): Promise<Oid> {
  return repository.git.transact((transaction) => {
    const { objects } = transaction;
    const parent = tipOf(repository);
    const oid = objects.write(BLOB, Buffer.from(text));
    const tree = objects.write(TREE, writeTree([{ mode: 0o100644, name: bytesOf('f'), oid }]));
    const parents = parent === undefined ? [] : [parent];
    const made = objects.write(COMMIT, writeCommit({ tree, parents, author, committer: author, message: text }));
    transaction.update({ name: MAIN, old: parent ?? ZERO_OID, new: made });
    return made;
  });
}

function logOf(repository: Repository): Oid[] {
  const tip = tipOf(repository);
  return tip === undefined ? [] : [...repository.git.history.log({ tips: [tip] })];
}

/** Stores an LFS object of `size` bytes, like an upload. Takes its bytes from the memory budget. */
function upload(current: CurrentWorld, oid: string, size: number): void {
  current.engine.memory.take(heldBytesOf({ size }));
  find(current).addLfsObject(oid, { size, blocks: [Buffer.alloc(size)], storedAt: 0 });
}

t.test('forks of a world start with its content, and do not see writes of each other', async (t) => {
  const root = start(t);
  create(root);
  const seeded = [await commit(find(root), 'seed'), await commit(find(root), 'more')].reverse();
  create(root, 'other');
  root.world.state.journal.snapshot();
  const id = root.snapshot();
  const late = await commit(find(root), 'after the snapshot');
  const [one, two] = [root.fork({ snapshot: id }), root.fork({ snapshot: id })];
  const own = await commit(find(one), 'of one');
  t.strictSame(logOf(find(one)), [own, ...seeded]);
  t.strictSame(logOf(find(two)), seeded);
  t.strictSame(logOf(find(root)), [late, ...seeded]);
  t.equal(find(two).git.objects.find(own), -1);
  t.equal(find(one).git.objects.find(late), -1);
  t.equal(find(root).git.objects.find(own), -1);
  one.world.state.clock.advance(60_000);
  two.world.state.repositories.delete(find(two));
  create(one, 'new');
  t.equal(find(two, 'new'), undefined);
  t.equal(find(root).record.state, 'active');
  t.equal(two.world.state.clock.now(), START);
  t.strictSame(
    [...one.world.state.repositories.list('demo')].map(({ name }) => name),
    ['r', 'other', 'new'],
  );

  await t.test('a fork has its own snapshots and its own initial state', async (t) => {
    const mine = one.snapshot();
    t.throws(() => root.fork({ snapshot: 'none' }), /The snapshot "none" does not exist/);
    await one.reset();
    t.strictSame(logOf(find(one)), seeded);
    await one.restore(mine);
    t.strictSame(logOf(find(one)), [own, ...seeded]);
    const idsOf = (world: CurrentWorld) => world.snapshots().map((kept) => kept.id);
    t.strictSame(idsOf(root), [id]);
    t.strictSame(idsOf(one), [mine]);
    const deeper = one.fork({ snapshot: mine });
    await one.close();
    t.strictSame(logOf(find(deeper)), [own, ...seeded], 'and of a fork a fork can be made, which outlives it');
    await deeper.close();
  });

  await t.test('forks keep shared objects of a removed snapshot', async (t) => {
    root.removeSnapshot(id);
    t.throws(() => root.removeSnapshot(id), /does not exist/);
    await root.reset();
    await two.reset();
    t.strictSame(logOf(find(two)), seeded);
    t.ok(root.engine.memory.used > 0);
    await two.close();
    await two.close();
    t.equal(root.engine.memory.used, 0);
    t.equal(root.engine.cachedBytes, 0);
  });
});

t.test('cached texts of searches are shared by all forks that have the objects', async (t) => {
  const root = start(t);
  create(root);
  await commit(find(root), 'shared');
  const id = root.snapshot();
  const [one, two] = [root.fork({ snapshot: id }), root.fork({ snapshot: id })];
  await commit(find(one), 'of one');
  await commit(find(two), 'of two');
  const numberOf = (current: CurrentWorld, text: string) => {
    const { objects } = find(current).git;
    return Array.from({ length: objects.size }, (_, number) => number).find(
      (number) => objects.typeOf(number) === BLOB && objects.read(number).toString() === text,
    )!;
  };
  const [shared, own] = [numberOf(one, 'shared'), numberOf(one, 'of one')];
  t.equal(numberOf(two, 'of two'), own, 'the same number of another object');
  const textsOf = (current: CurrentWorld, ...numbers: number[]) =>
    find(current).content.texts.texts(numbers, unlimited());
  const [sharedText, ownText] = await textsOf(one, shared, own);
  const texts = await textsOf(two, shared, own, -1);
  t.ok(sharedText);
  t.equal(texts[0], sharedText);
  t.ok(texts[1]);
  t.not(texts[1], ownText);
  t.equal(texts[2], undefined);
  for (const fork of [one, two]) await fork.close();
});

t.test('options given for a fork override those of the snapshot', async (t) => {
  const root = start(t);
  create(root);
  const id = root.snapshot();
  const uuid = (current: CurrentWorld) => current.world.state.ids.uuid('repository');
  const same = root.fork({ snapshot: id });
  const other = root.fork({ snapshot: id, seed: 'other', clock: START + 5 });
  t.equal(uuid(same), uuid(root));
  t.not(uuid(other), uuid(same));
  t.equal(other.world.state.clock.now(), START + 5);
  const empty = root.fork();
  t.equal(find(empty), undefined);
  t.equal(empty.world.state.clock.now(), START);
  t.not(empty.engine.authenticator, root.engine.authenticator);
  t.equal(empty.engine.resources, root.engine.resources);
  for (const fork of [same, other, empty]) await fork.close();
  await commit(find(root), 'the process goes on');
});

t.test('LFS objects count once while any world or snapshot has them', async (t) => {
  const root = start(t);
  create(root);
  const { memory } = root.engine;
  upload(root, 'a', 1_000);
  const id = root.snapshot();
  const fork = root.fork({ snapshot: id });
  const { used } = memory;
  upload(fork, 'b', 2_000);
  upload(root, 'c', 3_000);
  t.equal(memory.used - used, heldBytesOf({ size: 2_000 }) + heldBytesOf({ size: 3_000 }));
  t.strictSame(
    ['a', 'b', 'c'].map((oid) => find(fork).record.lfsObjects?.get(oid)?.size),
    [1_000, 2_000, undefined],
  );
  await root.restore(id);
  t.equal(memory.used - used, heldBytesOf({ size: 2_000 }));
  fork.world.state.repositories.delete(find(fork));
  t.equal(memory.used, used, 'the snapshot has the other one on');
  root.world.state.repositories.delete(find(root));
  t.equal(memory.used, used);
  root.removeSnapshot(id);
  t.equal(memory.used, used, 'and so has the start of the fork');
  await fork.close();
  t.equal(memory.used, 0);
});

t.test('histories of repeatedly forked and restored worlds are correct', async (t) => {
  let current = start(t);
  create(current);
  const main: Oid[] = [];
  const forks: { world: CurrentWorld; log: Oid[] }[] = [];
  for (let round = 0; round < 24; round++) {
    for (let count = 0; count < 3; count++) main.unshift(await commit(find(current), `${round} ${count}`));
    if (round % 5 === 0) await find(current).git.history.plan({ wants: [main[0]!], haves: [main[1]!] }, unlimited());
    const id = current.snapshot();
    const fork = current.fork({ snapshot: id });
    forks.push({ world: fork, log: [await commit(find(fork), `fork ${round}`), ...main] });
    if (round % 3 === 0) current = current.fork({ snapshot: id });
    else await current.restore(id);
    if (round % 4 === 1) await find(current).git.history.lastModified(main[0]!, unlimited());
  }
  for (const { world, log } of [...forks, { world: current, log: main }]) {
    const { objects, history } = find(world).git;
    const fresh = new History(objects);
    t.strictSame(logOf(find(world)), log);
    const [tip, middle, root] = [log[0]!, log[log.length >> 1]!, log.at(-1)!];
    t.strictSame(history.aheadBehind(tip, middle), { ahead: log.length >> 1, behind: 0 });
    t.strictSame(history.mergeBases(middle, tip), [middle]);
    for (const haves of [[], [root], [middle]]) {
      const numbers = async (each: History) =>
        [...(await each.plan({ wants: [tip], haves }, unlimited())).objects].sort();
      t.strictSame(await numbers(history), await numbers(fresh));
    }
    t.strictSame([...(await history.lastModified(middle, unlimited()))], [[bytesOf('f'), middle]]);
    t.ok(history.graph.depth <= 9, `${history.graph.depth} graphs lie below`);
  }
  for (const { world } of forks) await world.close();
});

t.test('thousands of closed worlds leave no memory behind', async (t) => {
  v8.setFlagsFromString('--expose-gc');
  const gc: () => void = runInNewContext('gc');
  const root = start(t);
  for (let number = 0; number < 20; number++) await commit(create(root, `r${number}`), 'seed');
  const id = root.snapshot();
  const { memory } = root.engine;
  const { used } = memory;
  const run = async (worlds: number) => {
    for (let number = 0; number < worlds; number++) {
      const fork = root.fork({ snapshot: id });
      if (number % 4 === 0) await commit(find(fork, `r${number % 20}`), `fork ${number}`);
      if (number % 100 === 0) await fork.restore(fork.snapshot());
      await fork.close();
    }
  };
  await run(500);
  gc();
  const before = process.memoryUsage();
  await run(5_000);
  gc();
  const after = process.memoryUsage();
  t.equal(memory.used, used);
  const grown = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers;
  t.ok(grown < 4_000_000, `${grown} bytes`);
});
