import { randomFillSync } from 'node:crypto';
import t from 'tap';
import { MemoryCache } from '../../memory/memory-cache.js';
import { Meter } from '../../schedule/meter.js';
import { Schedule, SLICE } from '../../schedule/schedule.js';
import { runYielding } from '../../schedule/steps.js';
import { Fsck } from '../fsck/fsck.js';
import { indexPack } from '../index-pack/index-pack.js';
import { BLOB, COMMIT, type Oid, type TypeCode } from '../object/object.js';
import { writePack } from '../pack-objects/pack-writer.js';
import { ObjectStore, type ObjectStoreOptions } from './object-store.js';
import { build } from './test/corrupt-packs.js';
import { copy, delta, inPieces, insert, oidOf, type PackBuilder } from './test/pack-builder.js';

const MIB = 1024 * 1024;
/**
 * Maximum number of work units by which a time slice may be exceeded. The largest work between two checks inflates 256
 * KiB (1,024 units) and reads a few objects.
 */
const PIECE = 1_500;
const ZEROS = Buffer.alloc(64 * MIB);

/** Creates an object store whose scheduler has a stopped clock. Only the counted work can then end a time slice. */
function frozen(options: Omit<ObjectStoreOptions, 'schedule'> = {}) {
  const schedule = new Schedule({ now: () => 0 });
  return { schedule, store: new ObjectStore({ ...options, schedule }) };
}

async function take(store: ObjectStore, fill: (pack: PackBuilder) => void, fsck?: Fsck): Promise<void> {
  using quarantine = store.quarantine();
  const check = fsck && ((type: TypeCode, body: Buffer, oid: Oid) => fsck.check(type, body, oid));
  await indexPack(quarantine, inPieces(build(fill), 64 * 1024), { thin: true, ...(check && { check }) });
  quarantine.publish();
}

t.test('a few kilobytes that inflate to many megabytes are received and read in time slices', async (t) => {
  const { schedule, store } = frozen();
  await take(store, (pack) => pack.whole('blob', ZEROS));
  t.ok(schedule.spent > ZEROS.length / 256, 'the work was counted');
  t.ok(schedule.longestSlice <= SLICE + PIECE, `${schedule.longestSlice} units`);
  const body = await runYielding(store.readSteps(0), new Meter({ schedule }));
  t.ok(body.equals(ZEROS));
  t.ok(schedule.longestSlice <= SLICE + PIECE, `${schedule.longestSlice} units, read`);
  await take(store, (pack) => pack.whole('blob', ZEROS));
  t.equal(store.size, 1, 'the same again is the same object');
  t.ok(schedule.longestSlice <= SLICE + PIECE, `${schedule.longestSlice} units, compared`);
});

t.test('deltas with large bases, results or instructions are received in time slices', async (t) => {
  const size = 20 * MIB;
  const base = Buffer.alloc(size, 'base ');
  const whole = 0xffffff;
  const grown = delta(size, size + 3, copy(0, whole), copy(whole, size - whole), insert('end'));
  const long = Buffer.from(randomFillSync(Buffer.alloc(MIB)));
  const pieces: Buffer[] = [];
  for (let at = 0; at < long.length; at += 100) pieces.push(insert(long.subarray(at, at + 100)));
  const expected = [
    base,
    Buffer.concat([base, Buffer.from('end')]),
    long,
    Buffer.from('base '),
    Buffer.concat([base, Buffer.from('enx')]),
  ];
  for (const limits of [{}, { workBytes: 0 }, { workBytes: 30 * MIB }]) {
    const { schedule, store } = frozen({ limits, caches: new MemoryCache(0) });
    await take(store, (pack) => {
      const first = pack.whole('blob', base);
      const second = pack.delta(first, grown);
      pack.delta(first, delta(size, long.length, ...pieces));
      pack.delta(first, delta(size, 5, copy(0, 5)));
      pack.delta(second, delta(size + 3, size + 3, copy(0, whole), copy(whole, size + 2 - whole), insert('x')));
    });
    t.ok(schedule.longestSlice <= SLICE + PIECE, `${schedule.longestSlice} units`);
    for (const body of expected) {
      const number = store.find(oidOf('blob', body));
      const read = await runYielding(store.readSteps(number), new Meter({ schedule }));
      t.ok(read.equals(body), `${body.length} bytes`);
    }
    t.ok(schedule.longestSlice <= SLICE + PIECE, `${schedule.longestSlice} units, read`);
  }
});

t.test('large trees and commits are received and checked in time slices', async (t) => {
  const { schedule, store } = frozen();
  const blob = oidOf('blob', 'content');
  const tree = Buffer.concat(
    Array.from({ length: 100_000 }, (_, at) =>
      Buffer.concat([Buffer.from(`100644 ${String(at).padStart(60, '0')}\0`), Buffer.from(blob, 'hex')]),
    ),
  );
  const root = oidOf('tree', tree);
  const person = 'A <a@b.c> 1 +0000\n';
  const first = `tree ${root}\nauthor ${person}committer ${person}\nfirst\n`;
  const parent = `parent ${oidOf('commit', first)}\n`;
  const second = `tree ${root}\n${parent.repeat(100_000)}author ${person}committer ${person}\nsecond\n`;
  await take(
    store,
    (pack) => {
      pack.whole('blob', 'content');
      pack.whole('tree', tree);
      pack.whole('commit', first);
      pack.whole('commit', second);
    },
    new Fsck(),
  );
  t.equal(store.size, 4);
  t.equal(store.typeOf(store.find(oidOf('commit', second))), COMMIT);
  t.ok(schedule.longestSlice <= SLICE + PIECE, `${schedule.longestSlice} units`);
  const bad = Buffer.concat([tree, Buffer.from('100644 0\0'), Buffer.from(blob, 'hex')]);
  await t.rejects(
    take(store, (pack) => pack.whole('tree', bad), new Fsck()),
    /not properly sorted/,
  );
  await t.rejects(
    take(store, (pack) =>
      pack.whole('tree', Buffer.concat([tree, Buffer.from('100644 ~\0'), Buffer.alloc(20, 7)])),
    ).then(async () => {
      using quarantine = store.quarantine();
      const missing = await quarantine.findMissing();
      throw missing ?? new Error('nothing is missing');
    }),
  );
});

t.test('a commit, tree or tag above the limit for whole reads is refused', async (t) => {
  const { store } = frozen({ limits: { structureBytes: 1_000_000 } });
  const large = Buffer.alloc(1_000_001, 'x');
  for (const type of ['commit', 'tree', 'tag'] as const) {
    const message = `${type} of 1000001 bytes exceeds the limit of 1000000 bytes`;
    await t.rejects(
      take(store, (pack) => pack.whole(type, large)),
      { message },
    );
    await t.rejects(
      take(store, (pack) => {
        const base = pack.whole(type, large.subarray(0, 10));
        const parts = Array.from({ length: 100_001 }, () => copy(0, 10));
        pack.delta(base, delta(10, 1_000_010, ...parts));
      }),
      { message: message.replace('1000001', '1000010') },
    );
  }
  await take(store, (pack) => pack.whole('blob', large));
  t.equal(store.size, 1);
});

t.test('writing an object in parts and sending it run in time slices', async (t) => {
  const { schedule, store } = frozen();
  const parts = Array.from({ length: 8 }, () => randomFillSync(Buffer.alloc(4 * MIB)));
  using quarantine = store.quarantine();
  const oid = await runYielding(quarantine.writeSteps(BLOB, parts), new Meter({ schedule }));
  quarantine.publish();
  t.equal(oid, oidOf('blob', Buffer.concat(parts)));
  t.ok(schedule.longestSlice <= SLICE + PIECE, `${schedule.longestSlice} units`);
  const copied: Buffer[] = [];
  for await (const piece of writePack(store, [0])) copied.push(piece);
  const { store: other } = frozen();
  using second = other.quarantine();
  await indexPack(second, inPieces(Buffer.concat(copied), 64 * 1024), { thin: false });
  second.publish();
  t.equal(other.find(oid), 0);
  t.ok(schedule.spent > (2 * 32 * MIB) / 512, 'the checksum was counted');
  t.ok(schedule.longestSlice <= SLICE + PIECE, `${schedule.longestSlice} units, sent`);
});
