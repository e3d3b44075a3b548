import { COST } from '../../schedule/cost.js';
import { runSync, type Steps } from '../../schedule/steps.js';
import type { ObjectReader } from '../object/object.js';
import { decodeTree, TreeEntries } from '../object/tree-entries.js';
import type { StoredObjects } from './stored-objects.js';

/** The body of a tree this large is decoded in slices. */
const LARGE = 64 * 1024;
/** Of a chain that is resolved, each tree this many steps from the last is worth keeping. */
const KEPT_STEP = 4;

/**
 * The entries of a tree: from its record and those of the trees it is told by, down to one that is known or whole; or
 * from its body. `finder` knows the ids that bodies name.
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
  // Where a body is kept for good, to cut a chain, the chain of records is cut too.
  while (base === undefined && objects.linksOf(at)?.needsBase(objects.placeOf(at)) && !objects.wantsPin(at)) {
    chain.push(at);
    at = objects.baseOf(at);
    base = objects.knownEntries(at);
  }
  const entries = base ?? (yield* wholeEntries(objects, finder, at));
  return chain.length === 0 ? entries : followChain(objects, chain, entries);
}

/** The entries of the first of `chain`, each told by the next, the last by `base`. */
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

/** The entries of a tree that is not told by another's. */
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
    // The body is only lent, and may not be held over a pause.
    entries = objects.peek(tree, (body) => runSync(decodeTree(body, objects.names, finder)));
    objects.schedule.spend(entries.length * COST.entry);
  } else {
    entries = yield* decodeTree(yield* objects.readSteps(tree), objects.names, finder);
  }
  objects.keepEntries(tree, entries);
  return entries;
}
