import { createHash, randomBytes } from 'node:crypto';
import t from 'tap';
import { ObjectIntake } from '../lfs/intake.js';
import { MemoryBudget } from '../memory/memory-budget.js';
import { heldAlone, heldBytesOf, isLfsOid, type LfsObject, type LfsObjects, NO_LFS_OBJECTS } from './lfs-objects.js';

const object = (size: number): LfsObject => ({ size, blocks: [Buffer.alloc(size)], storedAt: 0 });

t.test('an id is 64 lower-case hexadecimal digits', async (t) => {
  t.ok(isLfsOid('0123456789abcdef'.repeat(4)));
  for (const text of ['', 'a'.repeat(63), 'a'.repeat(65), 'A'.repeat(64), 'g'.repeat(64), `${'a'.repeat(64)}\n`]) {
    t.notOk(isLfsOid(text), JSON.stringify(text));
  }
});

t.test('an object is stored whatever the chunks of its upload, and counts once', async (t) => {
  for (const size of [0, 1, 4095, 4096, 4097, 70_000, 262_144, 600_000]) {
    for (const step of [1000, 4096, 65_536, 600_000]) {
      const content = randomBytes(size);
      const budget = new MemoryBudget(1_000_000);
      using intake = new ObjectIntake(budget);
      for (let at = 0; at < size; at += step) intake.add(content.subarray(at, at + step));
      t.equal(intake.digest(), createHash('sha256').update(content).digest('hex'));
      const kept = intake.keep(1);
      t.equal(kept.size, size);
      t.ok(Buffer.concat(kept.blocks).equals(content), `${size} bytes by ${step}`);
      const held = kept.blocks.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
      t.equal(held, size, 'no block is larger than what is in it');
      intake[Symbol.dispose]();
      t.equal(budget.used, heldBytesOf(kept), 'what is kept stays taken');
    }
  }
});

t.test('a discarded upload releases its memory, also if the limit was reached', async (t) => {
  const budget = new MemoryBudget(10_000);
  const intake = new ObjectIntake(budget);
  intake.add(Buffer.alloc(6_000));
  t.throws(() => intake.add(Buffer.alloc(6_000)), { name: 'StoreFull' });
  t.ok(budget.used >= 6_000);
  intake[Symbol.dispose]();
  intake[Symbol.dispose]();
  t.equal(budget.used, 0);
  const unkept = new ObjectIntake(undefined);
  unkept.add(Buffer.from('abc'));
  t.same([unkept.size, unkept.digest()], [3, createHash('sha256').update('abc').digest('hex')]);
});

t.test('derived values do not change the original', async (t) => {
  const one = NO_LFS_OBJECTS.with('a', object(1));
  const two = one.with('b', object(2));
  t.same([NO_LFS_OBJECTS.size, one.size, two.size], [0, 1, 2]);
  t.equal(one.get('b'), undefined);
  t.equal(two.get('a'), one.get('a'), 'and shares the rest');
  t.same(
    [...two.values()].map(({ size }) => size),
    [1, 2],
  );
});

t.test('objects that only one repository has are counted for it', async (t) => {
  const source = NO_LFS_OBJECTS.with('a', object(10)).with('b', object(20));
  const fork = source.with('c', object(30));
  const stranger = NO_LFS_OBJECTS.with('a', object(10)).with('z', object(1));
  const alone = (objects: LfsObjects, ...others: LfsObjects[]) =>
    Array.from(heldAlone(objects, others), heldBytesOf).reduce((sum, bytes) => sum + bytes, 0);
  const bytes = (...sizes: number[]) => sizes.reduce((sum, size) => sum + heldBytesOf({ size }), 0);
  t.equal(alone(source), bytes(10, 20));
  t.equal(alone(source, source), 0);
  t.equal(alone(source, fork), 0);
  t.equal(alone(fork, source), bytes(30));
  t.equal(alone(fork, stranger, source), bytes(30), 'the same content in memory twice counts twice');
  t.equal(alone(source, stranger), bytes(10, 20));
  t.equal(alone(NO_LFS_OBJECTS, fork), 0);
  t.equal(alone(fork, source, fork), 0);
  const large = fork.with('d', object(40)).with('e', object(50));
  t.equal(alone(fork, large), 0, 'also by the shorter of the two lists');
  t.equal(alone(large, fork, source), bytes(40, 50));
  t.equal(alone(large, stranger, fork), bytes(40, 50));
});

t.test('an object counts for more than its content, so that many empty ones are not free', async (t) => {
  t.equal(heldBytesOf({ size: 1000 }) - heldBytesOf({ size: 0 }), 1000);
  t.ok(heldBytesOf({ size: 0 }) > 0);
});
