import { COST } from '../../schedule/cost.js';
import { runSync, type Steps } from '../../schedule/steps.js';
import type { ObjectReader } from '../object/object.js';
import { decodeTree, TreeEntries } from '../object/tree-entries.js';
import type { StoredObjects } from './stored-objects.js';

/**
 * Minimum size in bytes of a tree object that is decoded in time slices. Decoding a larger tree at once would delay
 * other requests.
 */
const LARGE = 64 * 1024;
/** Interval of cached trees when a chain of tree deltas is resolved: every fourth tree of the chain is cached. */
const KEPT_STEP = 4;

/**
 * Returns the entries of a tree. `finder` finds objects by the ids in tree objects. Yields between pieces of work, so
 * that other requests can run.
 *
 * The entries are decoded from the link record of the tree, which was stored when the tree was received and contains
 * the entries as integers. A tree without a record is decoded from its tree object. A record may be a delta on the
 * record of another tree. The chain of records is then followed to a tree that is cached or has a complete record.
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
  // The chain ends early at an object whose body is pinned (kept inflated in memory), because this body can be decoded
  // directly. Pinned bodies therefore limit the length of a chain.
  while (base === undefined && objects.linksOf(at)?.needsBase(objects.placeOf(at)) && !objects.wantsPin(at)) {
    chain.push(at);
    at = objects.baseOf(at);
    base = objects.knownEntries(at);
  }
  const entries = base ?? (yield* wholeEntries(objects, finder, at));
  return chain.length === 0 ? entries : followChain(objects, chain, entries);
}

/**
 * Returns the entries of the first tree in `chain`. The record of each tree is a delta on the record of the next tree.
 * The record of the last tree is a delta on `base`.
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

/** Returns the entries of a tree that has a complete link record (not a delta) or no link record. */
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
    // The body must be decoded without yielding, because `peek` passes it in shared memory that other requests
    // overwrite.
    entries = objects.peek(tree, (body) => runSync(decodeTree(body, objects.names, finder)));
    objects.schedule.spend(entries.length * COST.entry);
  } else {
    entries = yield* decodeTree(yield* objects.readSteps(tree), objects.names, finder);
  }
  objects.keepEntries(tree, entries);
  return entries;
}
