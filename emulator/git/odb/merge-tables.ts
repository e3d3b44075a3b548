import { type MemoryBudget, SharedBytes, StoreFull } from '../../memory/memory-budget.js';
import type { Steps } from '../../schedule/steps.js';
import { OidSlots } from '../object/oid-slots.js';
import { LinkRecords, NO_RECORD } from './link-records.js';
import { BYTES_PER_OBJECT, COLUMNS, ObjectTable } from './object-table.js';

/**
 * Largest size ratio at which an object table is merged with the newer tables that build on it. The ratio is its size
 * divided by their total size. The limit bounds how often each object is copied over time.
 */
const LARGER = 2;
/**
 * `COPIED_AT_ONCE` is the number of objects copied between two yields. `COPY_COST` is the cost of copying them, in work
 * units of about a microsecond.
 */
const COPIED_AT_ONCE = 1024;
const COPY_COST = 200;

/**
 * Returns the tables that should be merged: `top` and some of its parent tables, with at most `max` objects in total.
 * Returns fewer than two tables if nothing should be merged. A table contains some objects of a store; its parent
 * contains older ones.
 */
export function tablesToMerge(top: ObjectTable, max = Number.POSITIVE_INFINITY): ObjectTable[] {
  const tables = [top];
  let count = top.ownCount;
  for (let table = top.parent; table !== undefined && table.ownCount <= count * LARGER; table = table.parent) {
    count += table.ownCount;
    if (count > max) break;
    tables.push(table);
  }
  return tables;
}

/**
 * Merges `tables` into the first one ("top"). Each table contains some objects of a store; the next table is its parent
 * with older objects. Readers of the top table see no difference.
 *
 * Merging keeps lookups fast: every fork of a repository adds a table, and a lookup visits one table after another.
 * Does nothing if the memory budget is too small. Yields between pieces of work, so that other requests can run.
 */
export function* mergeTables(tables: readonly ObjectTable[], budget: MemoryBudget | undefined): Steps<void> {
  if (tables.length < 2) return;
  const [top, bottom] = [tables[0]!, tables.at(-1)!];
  const count = top.count - bottom.firstNumber;
  const arrays = countedArrays(count, budget);
  if (arrays === undefined) return;
  const firsts = tables.map(({ firstNumber: first }) => first);
  top.caches.group.hold();
  const merged = new ObjectTable(top.caches, bottom.parent);
  merged.names = top.names;
  const links = new LinkRecords(bottom.firstNumber, top.names);
  try {
    merged.resizeArrays(count);
    merged.count = top.count;
    merged.slots = new OidSlots(count);
    for (const table of [...tables].reverse()) {
      for (let start = 0; start < table.ownCount; start += COPIED_AT_ONCE) {
        copyObjects(table, merged, start);
        yield COPY_COST;
        // Another writer may have merged or released the tables during the yield. The copy is then outdated and is
        // discarded.
        if (!top.isHeld || tables.some(({ firstNumber: first }, index) => first !== firsts[index])) return;
      }
    }
    for (const table of [...tables].reverse()) {
      copyRest(table, merged);
      copyLinks(table, merged, links);
    }
    top.replaceWith(merged, arrays.hold());
    top.caches.keepLinks(links);
  } finally {
    merged.release();
    arrays.release();
  }
}

function countedArrays(count: number, budget: MemoryBudget | undefined): SharedBytes | undefined {
  const bytes = count * BYTES_PER_OBJECT;
  try {
    budget?.take(bytes);
    return new SharedBytes(bytes, budget);
  } catch (error) {
    if (error instanceof StoreFull) return undefined;
    throw error;
  }
}

function copyObjects(from: ObjectTable, to: ObjectTable, start: number): void {
  const shift = from.firstNumber - to.firstNumber;
  const end = Math.min(start + COPIED_AT_ONCE, from.ownCount);
  for (const [name, width] of COLUMNS) {
    to[name].set(from[name].subarray(start * width, end * width), (start + shift) * width);
  }
  for (let at = start; at < end; at++) {
    to.slots.insert(to.oids, at + shift);
    to.completeSince[at + shift] = valid(from.completeSince[at]!, from);
    to.referencedSince[at + shift] = valid(from.referencedSince[at]!, from);
  }
}

/**
 * Returns `since` if the mark is valid for `table`, otherwise 0. `since` is the number of objects from which on a mark
 * is valid. `table` may share its marks with a larger table, for which alone some of them are valid.
 */
function valid(since: number, table: ObjectTable): number {
  return since <= table.count ? since : 0;
}

/**
 * Copies the segments (memory with the bytes of objects) and the maps for data that only few objects have. The oldest
 * table must be copied first, because the segments must be in the order of their numbers.
 */
function copyRest(from: ObjectTable, to: ObjectTable): void {
  to.segments.push(...from.segments);
  to.loose.push(...from.loose);
  for (const [number, target] of from.peeled) if (number < from.count) to.peeled.set(number, target);
  for (const [number, body] of from.pinned) if (number < from.count) to.pinned.set(number, body);
  copySince(from.completeBelow, from, to.completeSince, to.completeBelow, to.firstNumber);
  copySince(from.referencedBelow, from, to.referencedSince, to.referencedBelow, to.firstNumber);
}

/**
 * Appends the link records (decoded commits and trees) of the table `from` to `links`, if they are still cached. Stores
 * the new position of each record in `to`.
 */
function copyLinks(from: ObjectTable, to: ObjectTable, links: LinkRecords): void {
  const shift = from.firstNumber - to.firstNumber;
  const records = from.caches.links;
  const added = records === undefined ? 0 : links.append(records);
  for (let at = 0; at < from.ownCount; at++) {
    const place = from.linksAt[at]!;
    const isKept = records !== undefined && place < records.settled && from.firstNumber + at >= records.first;
    to.linksAt[at + shift] = isKept && place !== NO_RECORD ? place + added : NO_RECORD;
  }
}

/**
 * Copies the marks (`completeSince` or `referencedSince`) that a table stores for objects of its parent tables. If the
 * object is now in the merged table, its mark is stored in `array`. Otherwise it is stored in the map `below`.
 */
function copySince(
  notes: ReadonlyMap<number, number>,
  from: ObjectTable,
  array: Uint32Array,
  below: Map<number, number>,
  first: number,
): void {
  for (const [number, since] of notes) {
    if (since > from.count) continue;
    if (number >= first) array[number - first] ||= since;
    else if (!below.has(number)) below.set(number, since);
  }
}
