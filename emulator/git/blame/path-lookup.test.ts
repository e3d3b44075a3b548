import t from 'tap';
import { MemoryCache } from '../../memory/memory-cache.js';
import { runSync } from '../../schedule/steps.js';
import { unlimited } from '../../schedule/test/unlimited.js';
import { indexPack } from '../index-pack/index-pack.js';
import { bytesOf } from '../object/bytes.js';
import { TREE } from '../object/object.js';
import { decodeTree, objectAt } from '../object/tree-entries.js';
import { ObjectStore } from '../odb/object-store.js';
import { copy, delta, inPieces, insert, oidOf, PackBuilder } from '../odb/test/pack-builder.js';
import { randomNumbers } from '../test/random-numbers.js';
import { PathLookup } from './path-lookup.js';

/** File names of 60 characters. A delta copies such long tree entries from its base instead of repeating them. */
const NAMES = ['a', 'b', 'c', 'd', 'e'].map((name) => name.padEnd(60, name));
const TREES = 120;

/**
 * Builds a pack of random trees. Each tree is a delta of an earlier one, with entries added, removed or moved. Some
 * entries occur twice.
 */
function packOf(seed: number): Buffer {
  const below = randomNumbers(seed);
  const builder = new PackBuilder();
  const blobs = ['one', 'two', 'three'].map((text) => {
    builder.whole('blob', text);
    return Buffer.from(oidOf('blob', text), 'hex');
  });
  const entry = () => {
    const mode = ['100644', '100755', '120000'][below(3)];
    return Buffer.concat([Buffer.from(`${mode} ${NAMES[below(NAMES.length)]}\0`), blobs[below(blobs.length)]!]);
  };
  const trees: { at: number; readonly entries: readonly Buffer[] }[] = [{ at: 0, entries: [entry(), entry()] }];
  trees[0]!.at = builder.whole('tree', Buffer.concat(trees[0]!.entries));
  while (trees.length < TREES) {
    const base = trees[Math.max(0, trees.length - 1 - below(4))]!;
    const parts: Buffer[] = [];
    const entries: Buffer[] = [];
    const add = () => {
      const added = entry();
      entries.push(added);
      parts.push(Buffer.from(insert(added)));
    };
    const order = base.entries.map((_, index) => index);
    if (below(8) === 0) order.reverse();
    for (const index of order) {
      if (below(6) === 0) add();
      if (below(6) === 0) continue;
      const kept = base.entries[index]!;
      const start = Buffer.concat(base.entries.slice(0, index)).length;
      entries.push(kept);
      parts.push(Buffer.from(copy(start, kept.length)));
    }
    if (entries.length === 0 || entries.length < below(5)) add();
    const [before, after] = [Buffer.concat(base.entries).length, Buffer.concat(entries).length];
    trees.push({ at: builder.delta(base.at, delta(before, after, ...parts)), entries });
  }
  return builder.build();
}

t.test('a name is found in trees stored as deltas as in their bodies, in any order', async (t) => {
  for (const seed of [1, 2, 3]) {
    for (const cacheBytes of [0, 16_000_000]) {
      const store = new ObjectStore({ caches: new MemoryCache(cacheBytes) });
      using quarantine = store.quarantine();
      await indexPack(quarantine, inPieces(packOf(seed)), { thin: false });
      await quarantine.findMissing();
      quarantine.publish();
      const below = randomNumbers(seed);
      const numbers = Array.from({ length: store.size }, (_, number) => number).filter(
        (number) => store.typeOf(number) === TREE,
      );
      t.ok(numbers.some((tree) => store.differenceOf(tree) !== undefined) || cacheBytes === 0);
      for (const name of [...NAMES, 'none'].map(bytesOf)) {
        const lookup = new PathLookup(store, name, unlimited());
        for (const tree of numbers.toSorted(() => below(3) - 1)) {
          const entries = runSync(decodeTree(store.read(tree), store.names, store));
          const index = entries.find(name);
          const expected = index < 0 ? undefined : { mode: entries.modeAt(index), object: objectAt(entries, index) };
          t.same(lookup.in(tree), expected, `${name} in ${store.oidOf(tree)}`);
        }
      }
    }
  }
});
