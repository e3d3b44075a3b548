import fc from 'fast-check';
import t from 'tap';
import { atOnce } from '../../schedule/steps.js';
import { indexPack } from '../index-pack/index-pack.js';
import { ObjectStore } from '../odb/object-store.js';
import { copy, delta, inPieces, insert, oidOf, PackBuilder } from '../odb/test/pack-builder.js';
import { patchDelta } from '../pack/patch-delta.js';
import { relateByDeltas } from './related-delta.js';

/** An instruction: a part of the base by where it begins and ends, or text. */
type Part = readonly [number, number] | string;

/** Blobs by the one they are stored as a delta on: one that precedes, and none of the first. */
type Blobs = readonly { readonly base?: number; readonly parts: readonly Part[] }[];

async function stored(blobs: Blobs): Promise<{ store: ObjectStore; bodies: Buffer[]; numbers: number[] }> {
  const pack = new PackBuilder();
  const bodies: Buffer[] = [];
  const entries: number[] = [];
  for (const { base, parts } of blobs) {
    const from = base === undefined ? Buffer.alloc(0) : bodies[base]!;
    const pieces = parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : from.subarray(...part)));
    const body = Buffer.concat(pieces);
    const instructions = parts.map((part) =>
      typeof part === 'string' ? insert(part) : copy(part[0], part[1] - part[0]),
    );
    entries.push(
      base === undefined
        ? pack.whole('blob', body)
        : pack.delta(entries[base]!, delta(from.length, body.length, ...instructions)),
    );
    bodies.push(body);
  }
  const store = new ObjectStore();
  const quarantine = store.quarantine();
  await indexPack(quarantine, inPieces(pack.build()), { thin: false });
  quarantine.publish();
  return { store, bodies, numbers: bodies.map((body) => store.find(oidOf('blob', body))) };
}

/** The delta of one blob on another that their stored deltas lead to, if it gives the blob back. */
function relate({ store, bodies, numbers }: Awaited<ReturnType<typeof stored>>, blob: number, base: number) {
  const related = atOnce(relateByDeltas(store.stored, numbers[blob]!, numbers[base]!));
  const root = related?.needsRoot ? store.stored.read(related.root) : undefined;
  const written = related?.write(root, 1_000_000);
  if (written && !atOnce(patchDelta(bodies[base]!, written)).equals(bodies[blob]!)) throw new Error('another result');
  return written && { size: written.length, needsRoot: related!.needsRoot };
}

t.test('whatever leads to one object can be told by each other', async (t) => {
  const seen = new Set<boolean>();
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '\n'), minLength: 1, maxLength: 6 });
  const plan = fc.array(
    fc.record({
      base: fc.nat(),
      parts: fc.array(fc.oneof(text, fc.tuple(fc.nat(), fc.integer({ min: 1, max: 12 }))), {
        minLength: 1,
        maxLength: 6,
      }),
    }),
    { minLength: 1, maxLength: 8 },
  );
  const property = fc.asyncProperty(plan, async (plans) => {
    const blobs: { base?: number; parts: Part[] }[] = [{ parts: ['the root of them all, and some more text'] }];
    const lengths = [40];
    for (const [index, { base: pick, parts }] of plans.entries()) {
      const base = pick % blobs.length;
      // A blob of its own name, so that each is stored.
      const own: Part[] = [`#${index}#`];
      for (const part of parts) {
        if (typeof part === 'string') own.push(part);
        else {
          const from = part[0] % lengths[base]!;
          own.push([from, Math.min(lengths[base]!, from + part[1])]);
        }
      }
      blobs.push({ base, parts: own });
      lengths.push(own.reduce((sum, part) => sum + (typeof part === 'string' ? part.length : part[1] - part[0]), 0));
    }
    const made = await stored(blobs);
    for (let one = 0; one < blobs.length; one++) {
      for (let other = 0; other < blobs.length; other++) {
        if (one === other) continue;
        const found = relate(made, one, other);
        if (found === undefined) throw new Error('they have a root');
        seen.add(found.needsRoot);
      }
    }
  });
  await fc.assert(property, { seed: 20_261_123, numRuns: 300 });
  t.same([...seen].sort(), [false, true], 'with and without a look at the root');
});

const LINES = Array.from({ length: 100 }, (_, line) => `line ${line} ${Math.imul(line, 2_654_435_761)}\n`);
const ROOT = LINES.join('');
const CUT = LINES.slice(0, 50).join('').length;
const REST: Part = [CUT, ROOT.length];

t.test('what both changed alike is copied, and only what one has is told', async (t) => {
  const same = 'the same words in both of them';
  const made = await stored([
    { parts: [ROOT] },
    { base: 0, parts: [[0, CUT], same, REST] },
    { base: 0, parts: [[0, CUT], same, 'and more', REST] },
    { base: 2, parts: [[0, CUT + same.length], 'and less', [CUT + same.length + 8, ROOT.length + same.length + 8]] },
    { base: 0, parts: [[0, CUT], 'other', REST] },
    {
      base: 0,
      parts: [
        [0, CUT - 700],
        [CUT + 700, ROOT.length],
      ],
    },
    { base: 0, parts: [[0, CUT], 'unlike, ', same, REST] },
  ]);
  const header = 4;
  const oneCopy = 7;
  const size = (blob: number, base: number) => relate(made, blob, base)!.size;
  t.ok(size(2, 1) <= header + 2 * oneCopy + 1 + 'and more'.length, 'text that follows the same text');
  t.ok(size(6, 1) <= header + 2 * oneCopy + 1 + 'unlike, '.length, 'text before the same text');
  t.ok(size(3, 2) <= header + 2 * oneCopy + 1 + 'less'.length, 'and text between');
  t.ok(size(1, 2) <= header + 2 * oneCopy, 'what only the base has is left out');
  t.ok(size(4, 1) <= header + 2 * oneCopy + 1 + 'other'.length);
  t.match(relate(made, 0, 5), { needsRoot: true }, 'what only the root has is told');
  t.ok(relate(made, 0, 5)!.size > 1400);
  t.match(relate(made, 5, 0), { needsRoot: false });
});

t.test('without an object that both are made of nothing is known of them', async (t) => {
  const made = await stored([{ parts: [ROOT] }, { parts: [`${ROOT}.`] }, { base: 0, parts: [[0, 10]] }]);
  for (const [blob, base] of [
    [0, 1],
    [1, 0],
    [1, 2],
    [2, 1],
  ] as const) {
    t.equal(relate(made, blob, base), undefined);
  }
  const { store, numbers } = made;
  const related = atOnce(relateByDeltas(store.stored, numbers[0]!, numbers[2]!))!;
  t.equal(related.write(store.stored.read(related.root), ROOT.length - 100), undefined, 'nor is it told at length');
});

t.test('deltas of very many pieces are left to a comparison, after little work', async (t) => {
  const text = Array.from({ length: 6000 }, (_, at) =>
    String.fromCharCode(97 + (Math.imul(at, 2_654_435_761) >>> 28)),
  ).join('');
  const backwards: Part[] = Array.from({ length: 6000 }, (_, at) => [5999 - at, 6000 - at]);
  const often: Part[] = Array.from({ length: 2000 }, () => [0, 6000]);
  const made = await stored([
    { parts: [text] },
    { base: 0, parts: ['first', ...backwards] },
    { base: 0, parts: ['often', ...often] },
    { base: 1, parts: ['again', ...often] },
  ]);
  t.ok(relate(made, 1, 0), 'many are still told');
  const pieces: number[] = [];
  for (const [blob, base] of [
    [2, 1],
    [3, 0],
  ] as const) {
    const { store, numbers } = made;
    const before = store.schedule.spent;
    const steps = relateByDeltas(store.stored, numbers[blob]!, numbers[base]!);
    let last = steps.next();
    for (; !last.done; last = steps.next()) pieces.push(last.value);
    t.equal(last.value, undefined, `${blob} on ${base}`);
    t.ok(store.schedule.spent - before < 5_000);
  }
  t.ok(Math.max(...pieces) < 1_000, `${Math.max(...pieces)} units in one piece`);
  t.ok(pieces.reduce((sum, units) => sum + units, 0) < 5_000);
});
