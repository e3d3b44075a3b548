import fc from 'fast-check';
import t from 'tap';
import { COST } from '../../schedule/cost.js';
import { runSync } from '../../schedule/steps.js';
import { diffDelta } from './diff-delta.js';
import { applyDelta, DeltaError, DeltaHeader, patchDelta } from './patch-delta.js';

function apply(base: Buffer, delta: Buffer): Buffer {
  const header = new DeltaHeader();
  header.parse(delta, 0, delta.length);
  const arena = Buffer.concat([base, Buffer.alloc(header.resultSize)]);
  if (header.baseSize !== base.length) throw new DeltaError();
  const places = { base: arena, baseAt: 0, baseSize: base.length, result: arena, resultAt: base.length };
  const instructions = { delta, start: header.end, limit: delta.length };
  applyDelta({ ...places, resultSize: header.resultSize, ...instructions });
  return arena.subarray(base.length);
}

const encodeDelta = (...given: Parameters<typeof diffDelta>) => runSync(diffDelta(...given));

function roundTrip(base: Buffer, target: Buffer): Buffer | undefined {
  const delta = encodeDelta(base, target, target.length + 64);
  if (delta === undefined) return undefined;
  if (!apply(base, delta).equals(target)) throw new Error('another result');
  if (!runSync(patchDelta(base, delta)).equals(target)) throw new Error('another result in steps');
  return delta;
}

t.test('applying a delta gives its target, whatever base and target have in common', async () => {
  const piece = fc.uint8Array({ maxLength: 80 });
  const pieces = fc.array(piece, { maxLength: 8 });
  fc.assert(
    fc.property(pieces, pieces, fc.infiniteStream(fc.nat()), (own, other, picks) => {
      const base = Buffer.concat(own);
      // Combine parts of the base with new parts, so that the delta has both copy and insert instructions.
      const parts = other.flatMap((part) => [part, base.subarray(picks.next().value % (base.length + 1))]);
      roundTrip(base, Buffer.concat(parts));
    }),
    { seed: 20_251_121, numRuns: 500 },
  );
});

t.test('a delta copies moved, repeated and shared text', async (t) => {
  const line = (index: number) => `line ${index} ${Math.imul(index, 2_654_435_761)}\n`;
  const text = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => line(from + at)).join('');
  const base = Buffer.from(text(0, 200));
  const size = (target: string) => roundTrip(base, Buffer.from(target))?.length ?? Number.POSITIVE_INFINITY;
  t.ok(size(text(0, 200)) < 20, 'the same');
  t.ok(size(`${text(0, 100)}inserted${text(100, 200)}`) < 40, 'an insertion');
  t.ok(size(text(0, 100) + text(110, 200)) < 40, 'a deletion');
  t.ok(size(text(100, 200) + text(0, 100)) < 40, 'halves changed over');
  t.ok(size(text(50, 60).repeat(20)) < 200, 'a repetition');
});

t.test('a delta of repetitive data is computed in limited time', async (t) => {
  const zeros = Buffer.alloc(1_000_000);
  t.ok(roundTrip(zeros, Buffer.concat([Buffer.from('x'), zeros, Buffer.from('y'), zeros]))!.length < 1000);
});

t.test('copies longer than 64 KiB, offsets beyond 16 MiB and empty bodies', async (t) => {
  const base = Buffer.alloc(20_000_000);
  base.write('the end, which is not like the rest', base.length - 40);
  t.ok(roundTrip(base, base)!.length < 4000);
  const tail = base.subarray(base.length - 100);
  t.ok(roundTrip(base, Buffer.concat([Buffer.from('a'), tail, Buffer.from('b')]))!.length < 60);
  t.ok(roundTrip(Buffer.alloc(0), Buffer.from('text')));
  t.equal(roundTrip(Buffer.from('text'), Buffer.alloc(0)), undefined, 'Git refuses a delta of two bytes');
});

t.test('no delta is returned if it would exceed the maximum length', async (t) => {
  const [base, target] = [Buffer.from('abcdefghijklmnopqrstuvwxyz'), Buffer.from('nothing like the other text')];
  t.equal(encodeDelta(base, target, 10), undefined);
  t.equal(encodeDelta(base, target, 20), undefined);
});

t.test('long common ranges are compared in small pieces', async (t) => {
  const common = Buffer.alloc(4_000_000);
  for (let at = 0; at < common.length; at += 4) common.writeInt32LE(Math.imul(at, 2_654_435_761), at);
  const same = {
    base: Buffer.concat([Buffer.from('one'), common]),
    target: Buffer.concat([common, Buffer.from('two')]),
  };
  const zeros = {
    base: Buffer.alloc(4_000_000),
    target: Buffer.concat([Buffer.from('x'), Buffer.alloc(4_000_000, 0)]),
  };
  for (const { base, target } of [same, zeros]) {
    let max = 0;
    const steps = diffDelta(base, target, target.length);
    let step = steps.next();
    for (; !step.done; step = steps.next()) max = Math.max(max, step.value);
    t.ok(max > 0 && max <= 2 * 65_536 * COST.byteScanned, `${max} units in one piece`);
    t.ok(step.value!.length < 1000);
  }
});

t.test('a delta for another base, with a too long result, or truncated is refused', async (t) => {
  const base = Buffer.from('a base that is long enough');
  const delta = encodeDelta(base, Buffer.concat([base, base]), 100)!;
  t.equal(runSync(patchDelta(base, delta, 52)).length, 52);
  t.throws(() => runSync(patchDelta(base, delta, 51)), DeltaError);
  t.throws(() => runSync(patchDelta(base.subarray(1), delta)), DeltaError);
  for (let length = 0; length < delta.length; length++)
    t.throws(() => runSync(patchDelta(base, delta.subarray(0, length))), DeltaError);
});

t.test('a delta of fewer than four bytes is refused', async (t) => {
  for (const bytes of [[], [4], [4, 0], [0x84, 0, 0]]) {
    t.throws(() => apply(Buffer.from('text'), Buffer.from(bytes)), DeltaError, bytes.join());
  }
  t.equal(apply(Buffer.from('text'), Buffer.from([0x84, 0, 0x80, 0])).length, 0, 'four bytes, as Git');
});
