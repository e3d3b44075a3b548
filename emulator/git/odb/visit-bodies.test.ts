import t from 'tap';
import { MemoryCache } from '../../memory/memory-cache.js';
import { runSync } from '../../schedule/steps.js';
import { indexPack } from '../index-pack/index-pack.js';
import { BLOB } from '../object/object.js';
import { ObjectStore } from './object-store.js';
import { copy, delta, inPieces, insert, PackBuilder } from './test/pack-builder.js';

/**
 * Creates a store with many kinds of objects. It has a binary tree of deltas (two per base), bodies without deltas, a
 * large body, and an object outside of packs.
 */
async function sampleStore(cacheBytes: number): Promise<ObjectStore> {
  const pack = new PackBuilder();
  let level = ['first\n', 'second\n']
    .map((line) => line.repeat(3000))
    .map((text) => ({ entry: pack.whole('blob', text), size: text.length }));
  for (let depth = 0; depth < 5; depth++) {
    level = level.flatMap(({ entry, size }, index) =>
      ['left\n', 'right\n'].map((side) => {
        const text = `${depth}.${index} ${side}`;
        const result = size + text.length;
        return { entry: pack.delta(entry, delta(size, result, copy(0, size), insert(text))), size: result };
      }),
    );
  }
  pack.whole('blob', 'x'.repeat(300_000));
  const store = new ObjectStore({ caches: new MemoryCache(cacheBytes) });
  const quarantine = store.quarantine();
  await indexPack(quarantine, inPieces(pack.build()), { thin: false });
  quarantine.write(BLOB, Buffer.from('written through the API\n'));
  quarantine.publish();
  return store;
}

t.test('visitBodies passes each requested body once, equal to that of read', async (t) => {
  for (const cacheBytes of [0, 120_000, 1 << 24]) {
    const store = await sampleStore(cacheBytes);
    const all = Array.from({ length: store.size }, (_, number) => number);
    for (const numbers of [all, all.toReversed(), all.filter((number) => number % 3 === 1), [store.size - 2], []]) {
      const seen = new Map<number, string>();
      const steps = store.visitBodies(numbers, (number, body) => {
        t.notOk(seen.has(number), `${number} once`);
        seen.set(number, body.toString());
      });
      // Read other objects during each yield, as concurrent requests would. This evicts bodies from the cache.
      for (let at = 0; !steps.next().done; at++) store.read(all[(at * 7) % all.length]!);
      const small = numbers.filter((number) => store.sizeOf(number) < 300_000);
      t.same(
        [...seen.keys()].sort((a, b) => a - b),
        small.toSorted((a, b) => a - b),
      );
      for (const [number, body] of seen) t.equal(body, store.read(number).toString());
    }
    t.equal(runSync(store.visitBodies([0], () => undefined)), undefined);
  }
});
