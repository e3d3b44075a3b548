import v8 from 'node:v8';
import { runInNewContext } from 'node:vm';
import t, { type Test } from 'tap';
import { MemoryBudget } from '../../memory/memory-budget.js';
import { MemoryCache } from '../../memory/memory-cache.js';
import { unlimited } from '../../schedule/test/unlimited.js';
import { indexPack } from '../index-pack/index-pack.js';
import { bytesOf } from '../object/bytes.js';
import { BLOB, MissingObject, type Oid, TREE } from '../object/object.js';
import { writeTree } from '../object/tree.js';
import { writePack } from '../pack-objects/pack-writer.js';
import { randomNumbers } from '../test/random-numbers.js';
import { ObjectStore } from './object-store.js';
import { BYTES_PER_OBJECT, type ObjectTable } from './object-table.js';
import { copy, delta, inPieces, insert, oidOf, PackBuilder } from './test/pack-builder.js';

/**
 * Object store with its expected content. `texts` has the text of each object, and `referenced` the ids of objects to
 * which others refer.
 */
interface Modelled {
  readonly store: ObjectStore;
  readonly texts: Map<Oid, string>;
  readonly referenced: Set<Oid>;
}

function write(store: ObjectStore, texts: Iterable<string>): Oid[] {
  const quarantine = store.quarantine();
  const oids = Array.from(texts, (text) => quarantine.write(BLOB, Buffer.from(text)));
  quarantine.publish();
  return oids;
}

function tablesOf(store: ObjectStore): number {
  let count = 0;
  for (let table: ObjectTable | undefined = store.stored; table !== undefined; table = table.parent) count++;
  return count;
}

function check(t: Test, { store, texts, referenced }: Modelled): void {
  if (store.size !== texts.size) t.fail(`${store.size} objects, not ${texts.size}`);
  const numbers = new Set<number>();
  for (const [oid, text] of texts) {
    const number = store.find(oid);
    numbers.add(number);
    if (number < 0 || number >= store.size || store.oidOf(number) !== oid) t.fail(`${oid} is not found`);
    else if (store.read(number).toString('latin1') !== text) t.fail(`${oid} is another`);
  }
  if (numbers.size !== texts.size) t.fail('a number is used twice');
  const roots = Array.from(store.stored.unreferenced(store.size), (number) => store.oidOf(number));
  const expected = [...texts.keys()].filter((oid) => !referenced.has(oid));
  if (roots.sort().join() !== expected.sort().join()) t.fail(`${roots.length} roots, not ${expected.length}`);
}

t.test(
  'whatever is forked, written to, refused and let go: each store has its own objects, and nothing is left',
  async (t) => {
    const budget = new MemoryBudget(1 << 30);
    const caches = new MemoryCache(100_000);
    const random = randomNumbers(7);
    const first = { store: new ObjectStore({ budget, caches }), texts: new Map(), referenced: new Set<Oid>() };
    let stores: Modelled[] = [first];
    let serial = 0;
    /**
     * Adds objects to a store, then publishes or discards them at random. Other stores may already have these objects.
     */
    const grow = async ({ store, texts, referenced }: Modelled): Promise<void> => {
      const end = random(4) === 0 ? 'discard' : 'publish';
      const quarantine = store.quarantine();
      const added = new Map<Oid, string>();
      const pointed = new Set<Oid>();
      const known = [...texts];
      for (let count = random(12); count >= 0; count--) {
        const text = `text ${random(3) === 0 ? random(500) : serial++}`;
        added.set(quarantine.write(BLOB, Buffer.from(text)), text);
      }
      const [target] = known[random(known.length)] ?? [...added][0]!;
      if (store.find(target) < 0 || store.typeOf(store.find(target)) === BLOB) {
        const body = writeTree([{ mode: 0o100644, name: bytesOf(`f${serial++}`), oid: target }]);
        added.set(quarantine.write(TREE, body), body.toString('latin1'));
        pointed.add(target);
      }
      const based = known[random(known.length)];
      if (based && store.typeOf(store.find(based[0])) === BLOB) {
        const [oid, text] = based;
        const pack = new PackBuilder();
        const more = ` and ${serial++}`;
        pack.refDelta(oid, delta(text.length, text.length + more.length, copy(0, text.length), insert(more)));
        await indexPack(quarantine, inPieces(pack.build()), { thin: true });
        added.set(oidOf('blob', text + more), text + more);
      }
      const fork =
        random(5) === 0 ? { store: store.fork(), texts: new Map(texts), referenced: new Set(referenced) } : undefined;
      quarantine[end]();
      if (fork) stores.push(fork);
      if (end === 'discard') return;
      for (const [oid, text] of added) texts.set(oid, text);
      for (const oid of pointed) referenced.add(oid);
    };
    for (let step = 0; step < 1_500; step++) {
      const one = stores[random(stores.length)]!;
      const what = random(10);
      if (what < 5) await grow(one);
      else if (what < 8 || stores.length === 1) {
        const { store, texts, referenced } = one;
        stores.push({ store: store.fork(), texts: new Map(texts), referenced: new Set(referenced) });
      } else {
        one.store.release();
        check(t, one);
        stores = stores.filter((other) => other !== one);
      }
      if (random(10) === 0) for (const each of stores) check(t, each);
      while (stores.length > 12) stores.splice(random(stores.length), 1)[0]!.store.release();
    }
    for (const each of stores) check(t, each);
    t.ok(budget.used > 0);
    for (const { store } of stores) store.release();
    t.equal(budget.used, 0);
    t.equal(caches.heldBytes, 0);
  },
);

t.test(
  'a store that is forked, written to and forked again a thousand times stays as quick to look into',
  async (t) => {
    const budget = new MemoryBudget(1 << 30);
    let store = new ObjectStore({ budget });
    const oids = write(
      store,
      Array.from({ length: 20_000 }, (_, number) => `seed ${number}`),
    );
    let max = 0;
    for (let round = 0; round < 1_000; round++) {
      const next = store.fork();
      store.release();
      store = next;
      if (store.isDeep) await store.compact(unlimited());
      const count = round % 100 === 99 ? 3_000 : 3;
      oids.push(
        ...write(
          store,
          Array.from({ length: count }, (_, number) => `round ${round}, ${number}`),
        ),
      );
      max = Math.max(max, tablesOf(store));
    }
    t.ok(max <= 12, `at most ${max} tables`);
    const numbers = oids.map((oid) => store.find(oid));
    t.strictSame(numbers, Array.from(oids.keys()));
    t.equal(store.read(numbers.at(-1)!).toString(), 'round 999, 2999');
    t.equal(store.stored.looseCount, oids.length);
    store.release();
    t.equal(budget.used, 0);
  },
);

t.test('an object that became complete in the source after a fork is not complete in the fork', async (t) => {
  const store = new ObjectStore();
  const file = oidOf('blob', 'file');
  const tree = writeTree([{ mode: 0o100644, name: bytesOf('file'), oid: file }]);
  const broken = store.quarantine();
  const oid = broken.write(TREE, tree);
  broken.publish();
  const fork = store.fork();
  const mended = store.quarantine();
  mended.write(BLOB, Buffer.from('file'));
  await mended.checkConnectivity([oid]);
  mended.publish();
  {
    using quarantine = store.quarantine();
    await quarantine.checkConnectivity([oid]);
  }
  {
    using quarantine = fork.quarantine();
    await t.rejects(quarantine.checkConnectivity([oid]), MissingObject);
    quarantine.write(BLOB, Buffer.from('file'));
    await quarantine.checkConnectivity([oid]);
  }
  using quarantine = fork.quarantine();
  quarantine.write(BLOB, Buffer.from('something else'));
  await t.rejects(quarantine.checkConnectivity([oid]), MissingObject, 'what was discarded made nothing complete');
});

t.test('a pack from a fork equals a pack from a store without forks', async (t) => {
  const plain = new ObjectStore();
  let forked = new ObjectStore();
  const oids: Oid[] = [];
  for (let round = 0; round < 6; round++) {
    const next = forked.fork();
    const pack = new PackBuilder();
    const text = `text ${round}\n`.repeat(50);
    const base = pack.whole('blob', text);
    const more = `and ${round}`;
    pack.delta(base, delta(text.length, text.length + more.length, copy(0, text.length), insert(more)));
    // Add a whole entry after a delta. Deltas are resolved later, so these two objects must swap their numbers.
    pack.whole('blob', `last ${round}`);
    for (const store of [plain, next]) {
      const quarantine = store.quarantine();
      quarantine.write(BLOB, Buffer.from(`loose ${round}`));
      await indexPack(quarantine, inPieces(pack.build()), { thin: false });
      quarantine.publish();
    }
    oids.push(
      oidOf('blob', text),
      oidOf('blob', text + more),
      oidOf('blob', `loose ${round}`),
      oidOf('blob', `last ${round}`),
    );
    forked = next;
    const bytes = async (store: ObjectStore) => {
      const pieces: Buffer[] = [];
      for await (const piece of writePack(
        store,
        oids.map((oid) => store.find(oid)),
      ))
        pieces.push(Buffer.from(piece));
      return Buffer.concat(pieces);
    };
    t.ok((await bytes(forked)).equals(await bytes(plain)), `${round}`);
  }
});

t.test('thousands of forks, written to or not, release their budget and heap', async (t) => {
  v8.setFlagsFromString('--expose-gc');
  const gc: () => void = runInNewContext('gc');
  const budget = new MemoryBudget(1 << 30);
  const store = new ObjectStore({ budget, caches: new MemoryCache(1 << 20) });
  write(
    store,
    Array.from({ length: 50_000 }, (_, number) => `object ${number}`),
  );
  const round = (forks: number) => {
    let max = 0;
    for (let number = 0; number < forks; number++) {
      const fork = store.fork();
      if (number % 2 === 0) write(fork, [`fork ${number}`, 'another']);
      max = Math.max(max, budget.used - used);
      fork.release();
    }
    return max;
  };
  const alone = budget.used;
  const first = store.fork();
  write(store, ['more']);
  t.ok(budget.used - alone < 1_000, 'a store goes on in the arrays it shares');
  write(
    store,
    Array.from({ length: 50_000 }, (_, number) => `more ${number}`),
  );
  t.ok(budget.used - alone > 131_072 * BYTES_PER_OBJECT, 'until they are full');
  first.release();
  const { used } = budget;
  round(200);
  gc();
  const before = process.memoryUsage();
  const max = round(5_000);
  gc();
  const after = process.memoryUsage();
  t.equal(budget.used, used);
  t.ok(max < 20_000, `a fork with two objects takes ${max} bytes`);
  const grown = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers;
  t.ok(grown < 10_000_000, `${grown} bytes`);
  const open = Array.from({ length: 1_000 }, () => store.fork());
  t.equal(budget.used, used, 'forks that were not written to take nothing');
  for (const fork of open) fork.release();
  store.release();
  t.equal(budget.used, 0);
});
