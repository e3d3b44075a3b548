import { COST } from '../../schedule/cost.js';
import { runSync, type Steps } from '../../schedule/steps.js';
import type { ObjectReader } from '../object/object.js';
import { decodeTree, TreeEntries } from '../object/tree-entries.js';
import type { StoredObjects } from './stored-objects.js';

/** Minimum size in bytes of a tree body that is decoded in time slices. */
const LARGE = 64 * 1024;
/** Interval at which the trees of a resolved chain are cached. */
const KEPT_STEP = 4;

/**
 * Returns the entries of a tree, decoded from its link record or its body. If the record is a delta, follows the chain
 * of records down to a cached or complete tree. `finder` resolves the ids in bodies.
 */
export function* entriesOf(
  objects: StoredObjects,
  finder: Pick<ObjectReader, 'findRaw'>,
  tree: number,
): Steps<TreeEntries> {
  const known = objects.knownEntries(tree);
  if (known !== undefined) return known;
  const chain: number[] = [];
  let at = tree;
  let base: TreeEntries | undefined;
  // Stops at an object whose body is pinned to cut a delta chain, so the chain of records is cut there too.
  while (base === undefined && objects.linksOf(at)?.needsBase(objects.placeOf(at)) && !objects.wantsPin(at)) {
    chain.push(at);
    at = objects.baseOf(at);
    base = objects.knownEntries(at);
  }
  const entries = base ?? (yield* wholeEntries(objects, finder, at));
  return chain.length === 0 ? entries : followChain(objects, chain, entries);
}

/**
 * Returns the entries of the first tree in `chain`. Each tree is a delta of the next, the last one a delta of `base`.
 */
function followChain(objects: StoredObjects, chain: readonly number[], base: TreeEntries): TreeEntries {
  let entries = base;
  let { cells } = base;
  for (let step = chain.length - 1; step >= 0; step--) {
    const number = chain[step]!;
    const records = objects.linksOf(number)!;
    const place = objects.placeOf(number);
    const count = records.cellCount(place);
    const isKept = step % KEPT_STEP === 0;
    const target = isKept ? new Int32Array(count) : objects.cellScratch(step, count);
    records.readCells(place, cells, target);
    cells = target;
    objects.schedule.spend(count * COST.byteCopied);
    if (!isKept) continue;
    entries = new TreeEntries(objects.names, cells);
    objects.keepEntries(number, entries);
  }
  return entries;
}

/** Returns the entries of a tree whose record is not a delta, or that has no record. */
function* wholeEntries(
  objects: StoredObjects,
  finder: Pick<ObjectReader, 'findRaw'>,
  tree: number,
): Steps<TreeEntries> {
  const records = objects.linksOf(tree);
  let entries: TreeEntries;
  if (records !== undefined && !records.needsBase(objects.placeOf(tree))) {
    objects.schedule.spend(COST.object);
    const cells = new Int32Array(records.cellCount(objects.placeOf(tree)));
    records.readCells(objects.placeOf(tree), undefined, cells);
    entries = new TreeEntries(objects.names, cells);
  } else if (objects.sizeOf(tree) < LARGE) {
    // A peeked body must not be kept across a yield, so it is decoded without yielding.
    entries = objects.peek(tree, (body) => runSync(decodeTree(body, objects.names, finder)));
    objects.schedule.spend(entries.length * COST.entry);
  } else {
    entries = yield* decodeTree(yield* objects.readSteps(tree), objects.names, finder);
  }
  objects.keepEntries(tree, entries);
  return entries;
}
