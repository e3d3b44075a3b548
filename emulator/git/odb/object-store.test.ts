import t from 'tap';
import { MemoryBudget, StoreFull } from '../../memory/memory-budget.js';
import { MemoryCache } from '../../memory/memory-cache.js';
import { indexPack } from '../index-pack/index-pack.js';
import { bytesOf } from '../object/bytes.js';
import { BLOB, COMMIT, EMPTY_TREE_OID, MissingObject, type Oid, TREE } from '../object/object.js';
import { writeTree } from '../object/tree.js';
import { ObjectTooLarge } from '../pack/pack-error.js';
import { oid } from '../test/oid.js';
import { ObjectStore } from './object-store.js';
import { copy, delta, inPieces, insert, oidOf, PackBuilder } from './test/pack-builder.js';

const blob = (text: string) => Buffer.from(text);

function commitOn(tree: Oid, ...parents: Oid[]): Buffer {
  const who = 'A <a@example.com> 1700000000 +0000';
  const links = parents.map((parent) => `parent ${parent}\n`).join('');
  return Buffer.from(`tree ${tree}\n${links}author ${who}\ncommitter ${who}\n\nmessage\n`);
}

t.test('a written object is found by id, by raw bytes and by prefix after publish', async (t) => {
  const store = new ObjectStore();
  const quarantine = store.quarantine();
  const oid = quarantine.write(BLOB, blob('hello\n'));
  t.equal(oid, oidOf('blob', 'hello\n'));
  t.equal(quarantine.write(BLOB, blob('hello\n')), oid, 'written twice, stored once');
  t.equal(quarantine.size, 1);
  quarantine.publish();
  const number = store.find(oid);
  t.equal(number, 0);
  const raw = Buffer.alloc(25);
  store.copyOid(number, raw, 5);
  t.equal(store.findRaw(raw, 5), number);
  t.equal(store.oidOf(number), oid);
  t.equal(store.typeOf(number), BLOB);
  t.equal(store.sizeOf(number), 6);
  t.equal(store.read(number).toString(), 'hello\n');
  t.same(store.findPrefix(oid.slice(0, 7), 5), [oid]);
  t.same(store.findPrefix('0000', 5), []);
  t.throws(() => store.read(1), RangeError);
  t.throws(() => store.read(-1), RangeError);
});

t.test('thousands of objects keep their ids, and a prefix lists at most the requested number, sorted', async (t) => {
  const store = new ObjectStore();
  const quarantine = store.quarantine();
  const oids = Array.from({ length: 5000 }, (_, index) => quarantine.write(BLOB, blob(`object ${index}`)));
  quarantine.publish();
  for (const [index, oid] of oids.entries()) {
    if (store.read(store.find(oid)).toString() !== `object ${index}`) t.fail(`object ${index} is another`);
  }
  const prefix = oids[0]!.slice(0, 3);
  const expected = oids.filter((oid) => oid.startsWith(prefix)).sort();
  t.same(store.findPrefix(prefix, 100), expected);
  t.same(store.findPrefix(prefix, 1), expected.slice(0, 1));
});

t.test('objects in a quarantine are invisible until it is published', async (t) => {
  const store = new ObjectStore();
  const first = store.quarantine();
  const known = first.write(BLOB, blob('known'));
  first.publish();
  const quarantine = store.quarantine();
  const oid = quarantine.write(BLOB, blob('new'));
  t.equal(quarantine.base, 1);
  t.equal(quarantine.size, 2);
  t.ok(quarantine.find(known) >= 0 && quarantine.find(oid) >= quarantine.base, 'its own reader sees both');
  t.equal(store.find(oid), -1);
  t.equal(store.size, 1);
  t.same(store.findPrefix(oid.slice(0, 8), 9), []);
  t.throws(() => store.quarantine(), /already has a writer/, 'there is one writer');
  quarantine.publish();
  t.equal(store.read(store.find(oid)).toString(), 'new');
  t.throws(() => quarantine.write(BLOB, blob('late')), /closed/);
});

t.test('discard makes objects unreadable and releases their memory', async (t) => {
  const store = new ObjectStore();
  const first = store.quarantine();
  const known = first.write(BLOB, blob('known'));
  first.publish();
  const held = store.heldBytes;
  const quarantine = store.quarantine();
  const oid = quarantine.write(BLOB, Buffer.alloc(100_000, 'x'));
  for (let index = 0; index < 3000; index++) quarantine.write(BLOB, blob(`${index}`));
  const pack = new PackBuilder();
  pack.whole('blob', 'from a pack');
  await indexPack(quarantine, inPieces(pack.build()), { thin: false });
  const number = quarantine.find(oid);
  quarantine.read(number);
  quarantine.discard();
  quarantine.discard();
  t.equal(store.find(oid), -1);
  t.equal(quarantine.find(oid), -1);
  t.equal(store.size, 1);
  t.throws(() => store.read(number), RangeError);
  t.ok(store.heldBytes - held < 10_000, 'only index room is kept');
  const next = store.quarantine();
  const other = next.write(BLOB, blob('other'));
  next.publish();
  t.equal(store.read(store.find(other)).toString(), 'other', 'numbers are used again, contents are not');
  t.equal(store.read(store.find(known)).toString(), 'known');
});

t.test('a quarantine that falls out of scope is discarded', async (t) => {
  const store = new ObjectStore();
  {
    using quarantine = store.quarantine();
    quarantine.write(BLOB, blob('gone'));
  }
  t.equal(store.size, 0);
  store.quarantine().discard();
});

t.test('changing the buffer after a write does not change the object', async (t) => {
  const store = new ObjectStore();
  const quarantine = store.quarantine();
  const body = blob('before');
  const oid = quarantine.write(BLOB, body);
  body.fill('x');
  quarantine.publish();
  t.equal(store.read(store.find(oid)).toString(), 'before');
});

t.test('connectivity: every link must lead to an object of the right type', async (t) => {
  const store = new ObjectStore();
  const file = oidOf('blob', 'file');
  const tree = writeTree([{ mode: 0o100644, name: bytesOf('file'), oid: file }]);
  const root = commitOn(oidOf('tree', tree));
  const rootOid = oidOf('commit', root);

  await t.test('the error names a missing blob', async (t) => {
    using quarantine = store.quarantine();
    quarantine.write(TREE, tree);
    quarantine.write(COMMIT, root);
    await t.rejects(quarantine.checkConnectivity([rootOid]), new MissingObject(file, 'blob'));
    await t.rejects(quarantine.checkConnectivity([rootOid]), new MissingObject(file, 'blob'), 'also when asked again');
    quarantine.write(BLOB, blob('file'));
    await quarantine.checkConnectivity([rootOid]);
  });
  await t.test('the error names a missing tip', async (t) => {
    using quarantine = store.quarantine();
    await t.rejects(quarantine.checkConnectivity([rootOid]), new MissingObject(rootOid));
  });
  await t.test('a blob in place of a tree counts as missing', async (t) => {
    using quarantine = store.quarantine();
    const wrong = quarantine.write(COMMIT, commitOn(quarantine.write(BLOB, blob('no tree'))));
    await t.rejects(quarantine.checkConnectivity([wrong]), MissingObject);
  });
  await t.test('gitlinks and the empty tree need not be present', async () => {
    using quarantine = store.quarantine();
    const links = writeTree([{ mode: 0o160000, name: bytesOf('sub'), oid: oid('1'.repeat(40)) }]);
    const empty = quarantine.write(COMMIT, commitOn(EMPTY_TREE_OID));
    const commit = quarantine.write(COMMIT, commitOn(quarantine.write(TREE, links), empty));
    await quarantine.checkConnectivity([commit]);
  });
  await t.test('objects that no tip reaches may be broken, and do not count as complete later', async (t) => {
    const quarantine = store.quarantine();
    quarantine.write(COMMIT, root);
    const good = quarantine.write(COMMIT, commitOn(quarantine.write(TREE, writeTree([]))));
    await quarantine.checkConnectivity([good]);
    quarantine.publish();
    using next = store.quarantine();
    await t.rejects(next.checkConnectivity([rootOid]), MissingObject, 'though it is published');
    const child = next.write(COMMIT, commitOn(oidOf('tree', ''), rootOid));
    await t.rejects(next.checkConnectivity([child]), MissingObject, 'nor is what is built on it');
    await next.checkConnectivity([good]);
  });
  await t.test('a tip is accepted after its missing objects were added', async () => {
    const quarantine = store.quarantine();
    quarantine.write(TREE, tree);
    quarantine.write(BLOB, blob('file'));
    await quarantine.checkConnectivity([rootOid]);
    quarantine.publish();
    using next = store.quarantine();
    await next.checkConnectivity([rootOid]);
  });
});

t.test('a long history with a missing root costs one walk, however many tips it has', async (t) => {
  const store = new ObjectStore();
  using quarantine = store.quarantine();
  const tree = quarantine.write(TREE, writeTree([]));
  let tip = quarantine.write(COMMIT, commitOn(tree, oid('f'.repeat(40))));
  const tips = Array.from({ length: 20_000 }, () => (tip = quarantine.write(COMMIT, commitOn(tree, tip))));
  let refused = 0;
  for (const oid of tips.reverse()) {
    await quarantine.checkConnectivity([oid]).catch((error: MissingObject) => {
      if (error.oid === 'f'.repeat(40)) refused++;
    });
  }
  t.equal(refused, tips.length);
});

t.test('a write that exceeds a limit is refused and leaves nothing behind', async (t) => {
  const small = new ObjectStore({ limits: { objectBytes: 10 } });
  {
    using quarantine = small.quarantine();
    t.throws(() => quarantine.write(BLOB, blob('eleven byte')), ObjectTooLarge);
  }
  const full = new ObjectStore({ budget: new MemoryBudget(100_000) });
  {
    using quarantine = full.quarantine();
    quarantine.write(BLOB, Buffer.alloc(50_000));
    t.throws(() => quarantine.write(BLOB, Buffer.alloc(60_000, 1)), StoreFull);
  }
  t.ok(full.heldBytes < 20_000);
  const again = full.quarantine();
  again.write(BLOB, Buffer.alloc(90_000));
  again.publish();
  t.equal(full.size, 1, 'after the discard there is room again');
});

t.test('stores can share a budget, and one can use what another releases', async (t) => {
  const budget = new MemoryBudget(200_000);
  const [one, two] = [new ObjectStore({ budget }), new ObjectStore({ budget })];
  const first = one.quarantine();
  first.write(BLOB, Buffer.alloc(150_000));
  first.publish();
  const second = two.quarantine();
  t.throws(() => second.write(BLOB, Buffer.alloc(100_000, 1)), StoreFull);
  one.stored.budget.give(one.heldBytes);
  second.write(BLOB, Buffer.alloc(100_000, 1));
  second.publish();
  t.ok(budget.used > 100_000 && budget.used < 120_000);
  two.stored.budget.give(two.heldBytes);
  t.equal(budget.used, 0);
});

t.test('stores that share a cache do not see each other in it', async (t) => {
  const caches = new MemoryCache(1_000_000);
  for (const text of ['first store', 'other store']) {
    const pack = new PackBuilder();
    pack.whole('blob', text);
    const store = new ObjectStore({ caches });
    const quarantine = store.quarantine();
    await indexPack(quarantine, inPieces(pack.build()), { thin: false });
    t.equal(quarantine.read(0).toString(), text);
    quarantine.publish();
    for (let round = 0; round < 2; round++) t.equal(store.read(0).toString(), text);
  }
});

t.test('peek passes the same body as read, caches nothing, and overwrites no body that was read', async (t) => {
  const store = new ObjectStore();
  const quarantine = store.quarantine();
  const pack = new PackBuilder();
  const texts = ['line one\nline two\n', 'line one\nline 2\n', 'line one\nline 2\nline 3\n', 'alone'];
  const base = pack.whole('blob', texts[0]!);
  const second = pack.delta(base, delta(18, 16, copy(0, 14), insert('2\n')));
  pack.delta(second, delta(16, 23, copy(0, 16), insert('line 3\n')));
  pack.whole('blob', texts[3]!);
  await indexPack(quarantine, inPieces(pack.build()), { thin: false });
  texts.push('written');
  quarantine.write(BLOB, blob('written'));
  quarantine.publish();
  const numbers = texts.map((text) => store.find(oidOf('blob', text)));
  const peek = () => numbers.map((number) => store.peek(number, String));
  t.same(peek(), texts, 'before anything was read');
  const read = numbers.map((number) => store.read(number));
  t.equal(store.peek(numbers[2]!, String), texts[2]);
  t.equal(store.read(numbers[3]!), read[3], 'what was read is kept');
  t.same(peek(), texts, 'with all of it at hand');
  t.same(read.map(String), texts);
  t.throws(() => store.peek(numbers.length, String), RangeError);
});

t.test('a fork has the objects published before it, shares their bytes, and changes separately', async (t) => {
  const budget = new MemoryBudget(1 << 30);
  const store = new ObjectStore({ budget });
  const published = (write: (into: ReturnType<ObjectStore['quarantine']>) => void) => {
    const quarantine = store.quarantine();
    write(quarantine);
    quarantine.publish();
  };
  const bodies = Array.from({ length: 3_000 }, (_, index) => blob(`object ${index}`));
  published((into) => bodies.forEach((body) => void into.write(BLOB, body)));
  const base = blob('one line\n'.repeat(100));
  const changed = blob('another line\none line\n');
  const pack = new PackBuilder();
  const at = pack.whole('blob', base);
  pack.delta(at, delta(base.length, changed.length, insert('another line\n'), copy(0, 9)));
  const quarantine = store.quarantine();
  await indexPack(quarantine, inPieces(pack.build()), { thin: false });
  quarantine.publish();
  const kept = store.fork();
  const { used } = budget;
  const { size } = store;
  published((into) => into.write(BLOB, blob('later')));
  const open = store.quarantine();
  open.write(BLOB, blob('never published'));
  const fork = kept.fork();
  open.discard();
  t.equal(fork.size, size);
  for (const body of [...bodies, base, changed]) {
    const oid = oidOf('blob', body);
    if (fork.find(oid) !== store.find(oid) || !fork.read(fork.find(oid)).equals(body)) t.fail(`${body} is another`);
  }
  for (const text of ['later', 'never published']) t.equal(fork.find(oidOf('blob', text)), -1, text);
  const own = fork.quarantine();
  const oid = own.write(BLOB, blob('its own'));
  own.publish();
  published((into) => into.write(BLOB, blob('the same place in the other store')));
  t.equal(fork.read(fork.find(oid)).toString(), 'its own');
  t.equal(store.find(oid), -1);
  t.equal(store.read(store.find(oidOf('blob', 'later'))).toString(), 'later', 'neither writes over the other');
  store.release();
  t.ok(budget.used > used && budget.used < used + 10_000, 'what they share counts once');
  fork.release();
  t.equal(budget.used, used, 'until the last that has it lets go');
  kept.release();
  t.equal(budget.used, 0);
});

t.test('a fork does not see links of objects that were added later', async (t) => {
  const store = new ObjectStore();
  const first = store.quarantine();
  const oid = first.write(BLOB, blob('alone'));
  first.publish();
  const fork = store.fork();
  const second = store.quarantine();
  const tree = second.write(TREE, writeTree([{ mode: 0o100644, name: bytesOf('f'), oid }]));
  await second.checkConnectivity([tree]);
  second.publish();
  t.ok(store.stored.isReferenced(store.find(oid)));
  t.notOk(fork.stored.isReferenced(fork.find(oid)));
  t.same([...fork.stored.unreferenced(fork.size)], [fork.find(oid)]);
});

t.test('a store released while a writer runs releases all its memory, at once and when the writer ends', (t) => {
  const budget = new MemoryBudget(1 << 24);
  for (const end of ['discard', 'publish'] as const) {
    const store = new ObjectStore({ budget });
    const first = store.quarantine();
    first.write(BLOB, blob('there before'));
    first.publish();
    const writing = store.quarantine();
    writing.write(BLOB, blob('while it is held'));
    store.release();
    t.equal(budget.used, 0, `${end}: nothing is held`);
    for (let number = 0; number < 3000; number++) writing.write(BLOB, blob(`after ${number}`));
    t.ok(budget.used > 0, `${end}: the writer counts as long as it works`);
    writing[end]();
    t.equal(budget.used, 0, `${end}: nothing is left of it`);
  }
  t.end();
});
