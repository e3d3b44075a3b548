import t from 'tap';
import { MemoryBudget, StoreFull } from '../../memory/memory-budget.js';
import { MemoryCache } from '../../memory/memory-cache.js';
import { Fsck } from '../fsck/fsck.js';
import { BLOB, COMMIT, type ObjectReader, type Oid, typeName } from '../object/object.js';
import { ObjectStore, type ObjectStoreOptions } from '../odb/object-store.js';
import { build, CORRUPT } from '../odb/test/corrupt-packs.js';
import { copy, delta, inPieces, insert, oidOf } from '../odb/test/pack-builder.js';
import { PackError } from '../pack/pack-error.js';
import { generateHistory } from '../test/history.js';
import { oid as parseOid } from '../test/oid.js';
import { type IndexPackOptions, indexPack } from './index-pack.js';

/** Receives a pack in pieces of `piece` bytes. Returns the store with its objects, and the result. */
async function take(pack: Buffer, options: Partial<IndexPackOptions> = {}, store = new ObjectStore(), piece = 4096) {
  const quarantine = store.quarantine();
  try {
    const result = await indexPack(quarantine, inPieces(pack, piece), { thin: false, ...options });
    quarantine.publish();
    return { store, result };
  } finally {
    quarantine.discard();
  }
}

/** Returns the body of each object in a store, by object id. */
function listing(objects: ObjectReader): Map<Oid, Buffer> {
  const all = new Map<Oid, Buffer>();
  for (let number = 0; number < objects.size; number++) all.set(objects.oidOf(number), objects.read(number));
  return all;
}

t.test("packs of Git's are taken in whole, whatever they are made with and however they arrive", async (t) => {
  using git = generateHistory(40);
  const oids = git.run(['rev-list', '--objects', '--all', '--no-object-names']).split('\n');
  const batch = git.try(['cat-file', '--batch'], oids.join('\n')).stdout;
  // Include stores without memory for cached bodies. They must read bodies again.
  const limits = [{}, { workBytes: 0 }, { workBytes: 5000 }, { workBytes: 50_000 }];
  const variants = [[], ['--delta-base-offset'], ['--depth=0'], ['--delta-base-offset', '--depth=250', '--window=50']];
  for (const [index, options] of variants.entries()) {
    const pack = git.try(['pack-objects', '--stdout', '--all', '-q', ...options], '').stdout;
    const { store, result } = await take(
      pack,
      {},
      new ObjectStore({ caches: new MemoryCache(index * 20_000), limits: limits[index]! }),
      1 + index * 997,
    );
    t.same(result, { objects: oids.length, bytes: pack.length }, options.join(' '));
    for (let at = 0; at < batch.length; ) {
      const line = batch.indexOf(10, at);
      const [oid, type, size] = batch.toString('latin1', at, line).split(' ') as [string, string, string];
      const number = store.find(parseOid(oid));
      const body = batch.subarray(line + 1, line + 1 + Number(size));
      if (typeName(store.typeOf(number)) !== type || !store.read(number).equals(body)) t.fail(`${oid} differs`);
      at = line + 2 + Number(size);
    }
  }
});

t.test('the first bodies of a pack are at hand once it is published, within a share of the cache', async (t) => {
  using git = generateHistory(40);
  const pack = git.try(['pack-objects', '--stdout', '--all', '-q'], '').stdout;
  for (const [cacheBytes, few] of [
    [8 << 20, false],
    [16_000, true],
  ] as const) {
    const caches = new MemoryCache(cacheBytes);
    const store = new ObjectStore({ caches });
    const refused = store.quarantine();
    await indexPack(refused, inPieces(pack, 4096), { thin: false });
    t.ok(caches.heldBytes > 0);
    refused.discard();
    t.equal(caches.heldBytes, 0, 'of what is not published nothing stays');
    await take(pack, {}, store);
    const blobs = Array.from({ length: store.size }, (_, number) => number).filter((at) => store.typeOf(at) === BLOB);
    const kept = blobs.filter((number) => store.stored.knownBody(number) !== undefined);
    for (const number of kept) t.equal(oidOf('blob', store.read(number)), store.oidOf(number));
    t.ok(kept.length > 0);
    t.equal(kept.length < blobs.length, few, `${kept.length} of ${blobs.length}`);
  }
});

t.test('pieces that are given away are kept as they are, and others are copied', async (t) => {
  const noise = Buffer.from(Array.from({ length: 90_000 }, (_, at) => Math.imul(at, 2_654_435_761) >>> 11));
  const pack = build((pack) => {
    const base = pack.whole('blob', noise);
    for (let at = 1; at < 5; at++) pack.whole('blob', noise.subarray(at));
    pack.delta(base, delta(noise.length, 9, copy(1000, 4), insert('texts')));
  });
  const whole = await take(pack);
  for (const piece of [64 * 1024, 100_000, pack.length]) {
    const expected = listing(whole.store);
    const pieces: Buffer[] = [];
    async function* giveAway(): AsyncGenerator<Buffer> {
      for (let at = 0; at < pack.length; at += piece) {
        const given = Buffer.allocUnsafeSlow(Math.min(piece, pack.length - at));
        pack.copy(given, 0, at);
        pieces.push(given);
        yield given;
      }
    }
    for (const isGiven of [true, false]) {
      const store = new ObjectStore({ caches: new MemoryCache(0) });
      const quarantine = store.quarantine();
      pieces.length = 0;
      await indexPack(quarantine, giveAway(), { thin: false, isGiven });
      quarantine.publish();
      t.same(listing(store), expected, `pieces of ${piece}, given: ${isGiven}`);
      const kept = pieces.filter((given) => given.length >= 64 * 1024).length;
      for (const given of pieces) given.fill(0);
      const stored = store.stored;
      const segment = stored.segmentAt(stored.segmentOfObject(0));
      const zeros = [...segment.views(0, segment.length)].filter((view) => view.every((byte) => byte === 0)).length;
      t.equal(zeros, isGiven ? kept : 0, 'memory of the giver is memory of the store');
    }
  }
});

t.test('a thin pack finds its bases in the store, and only when it may', async (t) => {
  using git = generateHistory(40);
  const old = git.try(['pack-objects', '--stdout', '--revs', '-q'], 'main~5\n').stdout;
  const thin = git.try(
    ['pack-objects', '--stdout', '--revs', '--thin', '-q', '--delta-base-offset'],
    'main\n^main~5\n',
  );
  const { store } = await take(old);
  const before = store.size;
  await t.rejects(take(thin.stdout, {}, store), /^pack has \d+ unresolved deltas?$/);
  t.equal(store.size, before);
  await take(thin.stdout, { thin: true }, store);
  const expected = git.run(['rev-list', '--objects', 'main', '--no-object-names']).split('\n').sort();
  t.same([...listing(store).keys()].sort(), expected);
  for (const [oid, body] of listing(store)) {
    if (oidOf(typeName(store.typeOf(store.find(oid))), body) !== oid) t.fail(`${oid} reads as another object`);
  }
});

t.test('an object that comes again is stored once, in a pack and across packs', async (t) => {
  const base = 'a base that is long enough';
  const pack = build((pack) => {
    const first = pack.whole('blob', base);
    pack.whole('blob', base);
    pack.delta(first, delta(base.length, 4, insert('four')));
    pack.delta(first, delta(base.length, 4, insert('fo'), insert('ur')));
    pack.whole('blob', 'last');
  });
  const { store, result } = await take(pack);
  t.equal(result.objects, 5);
  t.same([...listing(store).values()].map(String), [base, 'four', 'last'], 'numbered in the order of the pack');
  const held = store.heldBytes;
  await take(pack, {}, store);
  t.equal(store.size, 3);
  t.equal(store.heldBytes, held, 'the bytes of a pack with nothing new are not kept');
  await take(
    build((pack) => pack.refDelta(oidOf('blob', 'four'), delta(4, 5, insert('fiver')))),
    { thin: true },
    store,
  );
  t.equal(store.read(3).toString(), 'fiver', 'a delta on an object that is itself stored as a delta');
});

t.test('a pack that is checked may have no object twice, as for git index-pack --strict', async (t) => {
  const check: IndexPackOptions['check'] = (...object) => new Fsck().check(...object);
  const many = build((pack) => {
    for (let count = 0; count < 200; count++) pack.whole('blob', 'one');
  });
  const { store } = await take(many);
  const message = `The same object ${oidOf('blob', 'one')} appears twice in the pack`;
  await t.rejects(take(many, { check }), { name: 'PackError', message });
  await t.rejects(take(many, { check }, store), { name: 'PackError', message }, 'one that the store has');
  const onItself = build((pack) => pack.refDelta(oidOf('blob', 'one'), delta(3, 3, copy(0, 3))));
  await t.rejects(take(onItself, { check, thin: true }, store), { message }, 'the base of a thin pack');
  await take(
    build((pack) => pack.whole('blob', 'one')),
    { check },
    store,
  );
});

t.test('deltas that name each other in a circle are refused', async (t) => {
  const [a, b] = ['the text of a', 'the text of b'];
  const onEachOther = build((pack) => {
    pack.refDelta(oidOf('blob', b), delta(b.length, a.length, insert(a)));
    pack.refDelta(oidOf('blob', a), delta(a.length, b.length, insert(b)));
  });
  await t.rejects(take(onEachOther), {
    name: 'PackError',
    issue: 'unresolved',
    message: 'pack has 2 unresolved deltas',
  });
  await t.rejects(take(onEachOther, { thin: true }), { name: 'PackError', issue: 'unresolved' });
  const onItself = build((pack) => pack.refDelta(oidOf('blob', a), delta(a.length, a.length, insert(a))));
  await t.rejects(take(onItself), { message: 'pack has 1 unresolved delta' });
  const { store } = await take(build((pack) => pack.whole('blob', b)));
  await take(onEachOther, { thin: true }, store);
  t.equal(store.size, 2, 'with one of them in the store there is no circle');
  t.equal(store.read(store.find(oidOf('blob', a))).toString(), a);
});

t.test('a chain of deltas by id resolves in whatever order its links come', async (t) => {
  const texts = Array.from({ length: 50 }, (_, index) => `text ${String(index).padStart(4, '0')}`);
  const pack = build((pack) => {
    for (let index = texts.length - 1; index > 0; index--) {
      pack.refDelta(oidOf('blob', texts[index - 1]!), delta(9, 9, copy(0, 5), insert(texts[index]!.slice(5))));
    }
    pack.whole('blob', texts[0]!);
  });
  const { store } = await take(pack);
  t.same([...listing(store).values()].map(String), texts.reverse());
});

t.test('corrupt packs are refused, whether they come in one piece or by bytes, and leave nothing', async (t) => {
  for (const [title, [pack, reason]] of Object.entries(CORRUPT)) {
    for (const piece of [1, 1 << 20]) {
      const store = new ObjectStore({
        limits: { objects: 5_000_000, objectBytes: 256 << 20, structureBytes: 64 << 20 },
      });
      await t.rejects(take(pack, { thin: true }, store, piece), { name: 'PackError', message: reason }, title);
      t.equal(store.size, 0);
    }
  }
});

t.test('a pack cut off at any byte is refused', async (t) => {
  const pack = build((pack) => {
    const text = 'twenty bytes of base';
    const base = pack.whole('blob', text);
    pack.delta(base, delta(text.length, 4, insert('four')));
    pack.refDelta(oidOf('blob', text), delta(text.length, 5, insert('fiver')));
  });
  const store = new ObjectStore();
  for (let length = 0; length < pack.length; length++) {
    await t.rejects(take(pack.subarray(0, length), {}, store), PackError, `${length} bytes`);
  }
  await take(pack, {}, store);
  t.equal(store.size, 3);
  await take(
    build(() => undefined),
    {},
    store,
  );
});

t.test('a source that breaks off, a signal and a check that refuses end the ingest with their own error', async (t) => {
  using git = generateHistory(20);
  const pack = git.try(['pack-objects', '--stdout', '--all', '-q', '--delta-base-offset'], '').stdout;
  const store = new ObjectStore();
  for (let part = 0; part < 50; part++) {
    const until = Math.floor((pack.length * part) / 50);
    async function* broken() {
      yield* inPieces(pack.subarray(0, until), 700);
      throw new Error('connection lost');
    }
    const quarantine = store.quarantine();
    await t.rejects(indexPack(quarantine, broken(), { thin: false }), { message: 'connection lost' });
    t.throws(() => quarantine.publish(), /only be discarded/);
    quarantine.discard();
    t.equal(store.size, 0);
  }
  const stopped = AbortSignal.abort(new Error('stopped'));
  await t.rejects(take(pack, { signal: stopped }, store), { message: 'stopped' });
  const refuse = () => {
    throw new Error('not allowed');
  };
  await t.rejects(take(pack, { check: refuse }, store), { message: 'not allowed' });
  t.equal(store.size, 0);
});

t.test('the check sees every new object but blobs once, with its body', async (t) => {
  using git = generateHistory(20);
  const pack = git.try(['pack-objects', '--stdout', '--all', '-q', '--delta-base-offset'], '').stdout;
  const seen: string[] = [];
  const { store } = await take(pack, {
    check: (type, body, oid) => {
      seen.push(oid);
      if (oidOf(typeName(type), body) !== oid) t.fail(`${oid} came with another body`);
      return new Fsck().check(type, body, oid);
    },
  });
  const others = [...listing(store).keys()].filter((oid) => store.typeOf(store.find(oid)) !== BLOB);
  t.same(seen.sort(), others.sort());
});

t.test('limits are checked before memory is taken', async (t) => {
  const limit = (limits: ObjectStoreOptions['limits']) => new ObjectStore({ limits: limits! });
  const bomb = build((pack) => pack.whole('blob', Buffer.alloc(30_000_000)));
  await t.rejects(take(bomb, {}, limit({ objectBytes: 1e6 })), { issue: 'limit', message: /object of 30000000 bytes/ });
  await t.rejects(take(bomb, {}, limit({ packBytes: 1000 })), { issue: 'limit', message: /maximum allowed size/ });
  const many = build((pack) => {
    for (let count = 0; count < 100; count++) pack.whole('blob', `${count}`);
  });
  await t.rejects(take(many, {}, limit({ objects: 99 })), { issue: 'limit', message: /100 objects/ });
  await t.rejects(take(many, {}, limit({ inflatedBytes: 100 })), { issue: 'limit', message: /inflates to more/ });
  await t.rejects(take(many, {}, new ObjectStore({ budget: new MemoryBudget(2000) })), StoreFull);
  const growing = build((pack) => {
    let base = pack.whole('blob', Buffer.alloc(50_000));
    for (let size = 100_000; size < 1e9; size *= 2) base = pack.delta(base, delta(size / 2, size, ...copies(size)));
  });
  await t.rejects(take(growing, {}, limit({ objectBytes: 256 << 20 })), {
    issue: 'limit',
    message: /exceeds the limit of 268435456/,
  });
});

/** Returns delta instructions that copy the first 50,000 bytes of the base repeatedly, `size` bytes in all. */
function copies(size: number): number[][] {
  return Array.from({ length: size / 50_000 }, () => copy(0, 50_000));
}

t.test('deltas that would write without end are stopped', async (t) => {
  const pack = build((pack) => {
    const base = pack.whole('blob', Buffer.alloc(50_000));
    for (let count = 1; count <= 100; count++)
      pack.delta(base, delta(50_000, 50_000 * count, ...copies(50_000 * count)));
  });
  const store = new ObjectStore({ limits: { freeDeltaWork: 1e6, deltaWork: 100 } });
  await t.rejects(take(pack, {}, store), { issue: 'limit', message: /deltas write more/ });
  await take(pack, {}, new ObjectStore({ limits: { freeDeltaWork: 1e6, deltaWork: 3000 } }));
});

t.test('an object that is hashed to a known id but differs is refused', async (t) => {
  /** Hash function that returns the length of the input, so that collisions are frequent. */
  const hash: NonNullable<ObjectStoreOptions['hash']> = (_, start, end, target, at) => {
    target.fill(0, at, at + 20);
    target.writeUInt32BE(end - start, at);
  };
  const store = new ObjectStore({ hash });
  await take(
    build((pack) => pack.whole('blob', 'abc')),
    {},
    store,
  );
  await take(
    build((pack) => pack.whole('blob', 'abc')),
    {},
    store,
  );
  const other = build((pack) => pack.whole('blob', 'xyz'));
  await t.rejects(take(other, {}, store), { issue: 'collision', message: /^SHA1 COLLISION FOUND WITH 0000000a/ });
  t.equal(store.read(0).toString(), 'abc');
});

t.test('a chain of 200,000 deltas is taken in and any of it read, without recursion and without end', async (t) => {
  const depth = 200_000;
  const text = (index: number) => `version ${String(index).padStart(8, '0')}`;
  const pack = build((pack) => {
    let base = pack.whole('blob', text(0));
    for (let index = 1; index <= depth; index++) {
      base = pack.delta(base, delta(16, 16, copy(0, 8), insert(text(index).slice(8))));
    }
  });
  const { store } = await take(pack, {}, new ObjectStore({ caches: new MemoryCache(0) }), 65_536);
  t.equal(store.size, depth + 1);
  for (const index of [0, 1, 255, 256, 257, 77_777, depth]) t.equal(store.read(index).toString(), text(index));
});

t.test('many deltas on one base, and a large object among small ones, resolve', async (t) => {
  const large = Buffer.alloc(6_000_000, 'large object that is hashed in slices ');
  const pack = build((pack) => {
    const base = pack.whole('blob', large);
    for (let count = 0; count < 30; count++) {
      const instructions = [copy(0, 60_000), insert(`${count}`), copy(count, 60_000)];
      const size = 120_000 + `${count}`.length;
      pack.delta(pack.delta(base, delta(large.length, size, ...instructions)), delta(size, 3, insert('end')));
    }
  });
  const { store } = await take(pack);
  t.equal(store.size, 32);
  for (const [oid, body] of listing(store)) t.equal(oidOf('blob', body), oid);
});

t.test('an empty pack brings nothing and is no error', async (t) => {
  const { store, result } = await take(build(() => undefined));
  t.same(result, { objects: 0, bytes: 32 });
  t.equal(store.size, 0);
});

t.test('while a large pack comes in, the event loop is not held up and readers are served', async (t) => {
  const store = new ObjectStore();
  const first = store.quarantine();
  const known = first.write(BLOB, Buffer.from('known'));
  first.publish();
  using git = generateHistory(150, 30);
  const pack = git.try(['pack-objects', '--stdout', '--all', '-q', '--delta-base-offset'], '').stdout;
  const ingest = take(pack, {}, store, pack.length);
  let turns = 0;
  let isDone = false;
  const end = ingest.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await new Promise((resolve) => setImmediate(resolve));
    turns++;
    if (store.read(store.find(known)).toString() !== 'known') t.fail('a reader saw something else');
    if (store.size !== 1 && !isDone) break;
  }
  await end;
  t.ok(turns > 3, 'others had their turn');
  t.ok(store.typeOf(store.size - 1) >= COMMIT);
});
