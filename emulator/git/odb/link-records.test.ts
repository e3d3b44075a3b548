import t, { type Test } from 'tap';
import { MemoryCache } from '../../memory/memory-cache.js';
import { Meter } from '../../schedule/meter.js';
import { runSync } from '../../schedule/steps.js';
import { Fsck, FsckError } from '../fsck/fsck.js';
import { indexPack } from '../index-pack/index-pack.js';
import { commitLinks } from '../object/commit.js';
import { COMMIT, type Oid, TREE } from '../object/object.js';
import { writeTree } from '../object/tree.js';
import { TreeCursor } from '../object/tree-cursor.js';
import { decodeTree } from '../object/tree-entries.js';
import { TreeNames } from '../object/tree-names.js';
import { generateHistory } from '../test/history.js';
import { randomNumbers } from '../test/random-numbers.js';
import { LinkRecords, NO_RECORD } from './link-records.js';
import { ObjectStore } from './object-store.js';
import { copy, delta, inPieces, insert, oidOf, PackBuilder } from './test/pack-builder.js';

async function take(pack: Buffer, store = new ObjectStore(), thin = false): Promise<ObjectStore> {
  const fsck = new Fsck();
  using quarantine = store.quarantine();
  await indexPack(quarantine, inPieces(pack), { thin, check: (...object) => fsck.check(...object) });
  const missing = await quarantine.findMissing();
  if (missing) throw missing;
  quarantine.publish();
  return store;
}

/**
 * Verifies the link record of each commit and tree against its body. A link record is the stored list of the objects to
 * which it refers. Returns the number of trees whose record is stored as a difference from another tree's record.
 */
function compareWithBodies(t: Test, store: ObjectStore): number {
  let differences = 0;
  for (let number = 0; number < store.size; number++) {
    const type = store.typeOf(number);
    if (type === TREE) {
      const { cells } = runSync(store.entriesOf(number));
      const decoded = runSync(decodeTree(store.read(number), store.names, store));
      if (!Buffer.from(cells.buffer).equals(Buffer.from(decoded.cells.buffer))) t.fail(store.oidOf(number));
      if (store.differenceOf(number) !== undefined) differences++;
    }
    const record = type === COMMIT ? store.recordOf(number) : undefined;
    if (record === undefined) continue;
    const { tree, parents, ...times } = commitLinks(store.read(number));
    t.same(record, { tree: store.find(tree), parents: parents.map((oid) => store.find(oid)), ...times });
  }
  return differences;
}

t.test('link records of trees and commits match their bodies', async (t) => {
  using git = generateHistory(60, 200);
  const pack = (...args: string[]) => git.try(['pack-objects', '--stdout', '-q', ...args], '').stdout;
  for (const cacheBytes of [0, 30_000, 10_000_000]) {
    const store = await take(
      pack('--all', '--delta-base-offset', '--depth=50'),
      new ObjectStore({ caches: new MemoryCache(cacheBytes) }),
    );
    t.ok(compareWithBodies(t, store) > 100 || cacheBytes < 100_000, `a cache of ${cacheBytes}`);
  }
});

t.test('link records are shared with forks, merged, and removed with refused objects', async (t) => {
  using git = generateHistory(60, 200);
  const revisions = git.run(['rev-list', '--reverse', 'main']).split('\n');
  const parts = [10, 20, 30, 45, revisions.length].map((end, at, ends) => {
    const before = revisions[(ends[at - 1] ?? 0) - 1];
    const wanted = `${revisions[end - 1]}\n${before === undefined ? '' : `^${before}\n`}`;
    return git.try(['pack-objects', '--stdout', '-q', '--revs', '--thin', '--delta-base-offset'], wanted).stdout;
  });
  let store = new ObjectStore();
  for (const part of parts) {
    store = await take(part, store.fork(), true);
    await store.compact(new Meter({ schedule: store.schedule }));
    compareWithBodies(t, store);
    // Receive a tree whose blob is missing. The store must refuse the pack and keep no record of it.
    const broken = new PackBuilder();
    const lost = oidOf('blob', 'lost');
    broken.whole('tree', writeTree([{ mode: 0o100644, name: 'lost' as never, oid: lost }]));
    await t.rejects(take(broken.build(), store), { message: new RegExp(lost) });
  }
  t.ok(compareWithBodies(t, store) > 10);
  // Use a small cache. It evicts the records of the first packs before the last packs are added.
  const small = new ObjectStore({ caches: new MemoryCache(60_000) });
  for (const part of parts) {
    await take(part, small, true);
    compareWithBodies(t, small);
  }
});

const MODES = [0o100644, 0o100755, 0o120000, 0o40000, 0o160000];

/**
 * Tests trees that arrive as unusual deltas, which no Git client would write. Their copies end inside an entry, are
 * repeated, or are out of order.
 */
t.test('the record of a tree matches its body for any delta', async (t) => {
  const random = randomNumbers(20);
  let differences = 0;
  for (let round = 0; round < 60; round++) {
    const builder = new PackBuilder();
    builder.whole('blob', 'a file');
    const [blob, empty] = [oidOf('blob', 'a file'), oidOf('tree', '')];
    builder.whole('tree', '');
    const names = Array.from({ length: 40 }, (_, at) => `${'abc'[random(3)]}${'x'.repeat(random(30))}${at}`);
    const mode = () => MODES[random(MODES.length)]!;
    const idOf = (mode: number): Oid => (mode === 0o40000 ? empty : blob);
    const base = writeTree(names.map((name) => ((mode) => ({ mode, name: name as never, oid: idOf(mode) }))(mode())));
    const at = builder.whole('tree', base);
    const parts: (Buffer | number[])[] = [];
    const bytes: Buffer[] = [];
    for (let part = 0; part < 1 + random(6); part++) {
      if (random(3) === 0) {
        const kind = mode();
        const added = writeTree([{ mode: kind, name: `n${random(1000)}` as never, oid: idOf(kind) }]);
        parts.push(insert(added));
        bytes.push(added);
        continue;
      }
      const starts = entryStarts(base);
      const [from, to] = [starts[random(starts.length)]!, starts[random(starts.length)]!].sort((a, b) => a - b) as [
        number,
        number,
      ];
      if (from === to) continue;
      const cut = from + random(to - from);
      for (const [start, end] of [
        [from, cut],
        [cut, to],
      ] as const) {
        if (start < end) parts.push(copy(start, end - start));
      }
      bytes.push(base.subarray(from, to));
    }
    const result = Buffer.concat(bytes);
    const middle = builder.delta(at, delta(base.length, result.length, ...parts));
    // Add another delta that has this tree as its base. The tree's record is then used as a base too.
    const more = writeTree([{ mode: 0o100644, name: `z${round}` as never, oid: blob }]);
    const copied = result.length === 0 ? [] : [copy(0, result.length)];
    builder.delta(middle, delta(result.length, result.length + more.length, ...copied, insert(more)));
    const store = new ObjectStore();
    using quarantine = store.quarantine();
    await indexPack(quarantine, inPieces(builder.build()), { thin: false });
    t.equal(await quarantine.findMissing(), undefined);
    quarantine.publish();
    differences += compareWithBodies(t, store);
  }
  t.ok(differences > 60);
});

function entryStarts(body: Buffer): number[] {
  const starts = [0];
  for (let at = 0; at < body.length; starts.push(at)) at = body.indexOf(0, at) + 21;
  return starts;
}

t.test('fsck has the same findings for a tree checked by its delta as for the whole tree', async (t) => {
  const random = randomNumbers(7);
  const names = ['a', 'a-b', 'a.c', 'a0', 'b', 'b.d', '.git', 'c', '..', 'c-', 'c.', 'd'];
  const blob = oidOf('blob', 'a file');
  const empty = oidOf('tree', '');
  const entry = () => {
    const mode = random(2) === 0 ? 0o100644 : 0o40000;
    return { mode, name: names[random(names.length)]! as never, oid: mode === 0o40000 ? empty : blob };
  };
  const refusal = async (pack: Buffer): Promise<string> => {
    try {
      await take(pack);
      return 'taken';
    } catch (error) {
      if (error instanceof FsckError) return error.message;
      throw error;
    }
  };
  const outcomes = new Set<string>();
  for (let round = 0; round < 300; round++) {
    // Put an entry with a long name before and after the others, so that the delta contains copies.
    const around = (letter: string) => ({ mode: 0o100644, name: letter.repeat(60) as never, oid: blob });
    const [first, last] = [writeTree([around('A')]), writeTree([around('z')])];
    const clean = ['a', 'a-b', 'a.c', 'b', 'b.d', 'c'].filter(() => random(4) > 0);
    const kept = writeTree(clean.map((name) => ({ mode: 0o100644, name: name as never, oid: blob })));
    const base = Buffer.concat([first, kept, last]);
    const added = random(2) === 0 ? writeTree([entry()]) : Buffer.concat([writeTree([entry()]), writeTree([entry()])]);
    const starts = entryStarts(kept);
    const place = starts[random(starts.length)]!;
    const result = Buffer.concat([first, kept.subarray(0, place), added, kept.subarray(place), last]);
    const packOf = (add: (builder: PackBuilder, at: number) => void) => {
      const builder = new PackBuilder();
      builder.whole('blob', 'a file');
      builder.whole('tree', '');
      add(builder, builder.whole('tree', base));
      return builder.build();
    };
    const at = first.length + place;
    const told = delta(base.length, result.length, copy(0, at), insert(added), copy(at, base.length - at));
    const expected = await refusal(packOf((builder) => builder.whole('tree', result)));
    const found = await refusal(packOf((builder, start) => builder.delta(start, told)));
    if (found !== expected) t.fail(`${result.toString('latin1')}: ${found}, not ${expected}`);
    // Build a delta that adds no new bytes but changes the order of the entries. The check must notice this.
    const turned = Buffer.concat([last, first]);
    const parts = [copy(base.length - last.length, last.length), copy(0, first.length)];
    const back = delta(base.length, turned.length, ...parts);
    const disordered = await refusal(packOf((builder, start) => builder.delta(start, back)));
    if (!disordered.includes('treeNotSorted') && expected === 'taken') t.fail('the order was not looked at');
    outcomes.add(expected.replace(/[0-9a-f]{40}/g, ''));
  }
  t.ok(outcomes.size > 4, [...outcomes].join('; '));
});

t.test('received trees with only distinct names do not fill the memory', async (t) => {
  const builder = new PackBuilder();
  const blob = oidOf('blob', '');
  builder.whole('blob', '');
  const bodies = Array.from({ length: 300 }, (_, at) =>
    writeTree([{ mode: 0o100644, name: `${at}${'x'.repeat(250_000)}` as never, oid: blob }]),
  );
  for (const body of bodies) builder.whole('tree', body);
  const store = new ObjectStore();
  using quarantine = store.quarantine();
  await indexPack(quarantine, inPieces(builder.build(), 65_536), { thin: false });
  t.equal(await quarantine.findMissing(), undefined);
  quarantine.publish();
  t.ok(store.names.heldBytes < 66 * 1024 * 1024);
  const [first, last] = [bodies[0]!, bodies.at(-1)!].map((body) => store.find(oidOf('tree', body)));
  t.same([store.hasRecord(first!), store.hasRecord(last!)], [true, false]);
  const entries = runSync(store.entriesOf(last!));
  t.same([entries.length, entries.nameAt(0).slice(0, 4), entries.objectAt(0)], [1, '299x', store.find(blob)]);
});

t.test('each name gets one number', (t) => {
  const names = new TreeNames();
  const modes = ['100644', '100755', '40000', '100644', '0100644', '300644', '040000'];
  const cursor = new TreeCursor(Buffer.from(modes.map((mode) => `${mode} file\0${'i'.repeat(20)}`).join(''), 'latin1'));
  const keys = modes.map(() => cursor.next() && names.keyOf(cursor));
  t.same(keys, [0, 1, 2, 0, 3, 4, 5], 'as the bytes before the id differ');
  t.same(
    [0, 1, 2].map((key) => names.nameIdOf(key)),
    [0, 0, 0],
  );
  t.same(
    [0, 1, 2].map((key) => names.modeOf(key).toString(8)),
    ['100644', '100755', '40000'],
  );
  t.equal(names.order(0, 1), 0);
  t.ok(names.order(1, 2) < 0);
  t.end();
});

t.test('records keep their positions when others are added, removed or merged', (t) => {
  const record = (seed: number) => Int32Array.of(seed, seed, seed, 3000, ...Array.from({ length: 3000 }, () => seed));
  const read = (records: LinkRecords, place: number) => {
    const { tree, parents } = records.commitAt(place);
    return [tree, ...new Set(parents)];
  };
  const names = new TreeNames();
  const records = new LinkRecords(0, names);
  const places = Array.from({ length: 200 }, (_, seed) => records.add(record(seed)));
  const { length } = records;
  const more = Array.from({ length: 200 }, (_, seed) => records.add(record(seed + 200)));
  t.same(
    more.map((place) => read(records, place)),
    more.map((_, seed) => [seed + 200, seed + 200]),
  );
  records.truncate(length);
  t.equal(records.add(record(7)), more[0]);
  records.settled = records.length;
  records.seal();
  const joined = new LinkRecords(0, names);
  const moved = [records, records].map((each) => joined.append(each));
  const last = joined.add(record(9));
  for (const by of moved) {
    const all = places.map((place) => read(joined, place + by));
    t.same(
      all,
      places.map((_, seed) => [seed, seed]),
    );
  }
  t.same(read(joined, last), [9, 9]);
  t.equal(records.add(new Int32Array(1 << 19)), NO_RECORD, 'one that is too large');
  t.ok(records.heldBytes < 201 * 3004 * 4 + 2 * 1024 * 1024);
  t.end();
});
