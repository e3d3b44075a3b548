import { type MemoryBudget, SharedBytes, StoreFull } from '../../memory/memory-budget.js';
import type { Steps } from '../../schedule/steps.js';
import { OID_BYTES, OidSlots } from '../object/oid-slots.js';
import { LinkRecords, NO_RECORD } from './link-records.js';
import { BYTES_PER_OBJECT, ObjectTable } from './object-table.js';

/** Tables this much larger than all above them, or more, stay apart: each object is copied a few times at most. */
const LARGER = 2;
/** Objects copied between two looks at the schedule, and what that costs. */
const COPIED_AT_ONCE = 1024;
const COPY_COST = 200;

/** The tables from `top` down that are to be one, of at most `most` objects; fewer than two when nothing is to be done. */
export function tablesToMerge(top: ObjectTable, most = Number.POSITIVE_INFINITY): ObjectTable[] {
  const tables = [top];
  let count = top.ownCount;
  for (let table = top.below; table !== undefined && table.ownCount <= count * LARGER; table = table.below) {
    count += table.ownCount;
    if (count > most) break;
    tables.push(table);
  }
  return tables;
}

/**
 * Makes tables that lie on each other, top first, one: `top`, which stays what it is to its readers. So a lookup meets few tables,
 * however often a store was forked, written to, and forked again. Without room for it nothing happens.
 */
export function* mergeTables(tables: readonly ObjectTable[], budget: MemoryBudget | undefined): Steps<void> {
  if (tables.length < 2) return;
  const [top, bottom] = [tables[0]!, tables.at(-1)!];
  const count = top.count - bottom.first;
  const arrays = countedArrays(count, budget);
  if (arrays === undefined) return;
  const firsts = tables.map(({ first }) => first);
  top.caches.group.hold();
  const merged = new ObjectTable(top.caches, bottom.below);
  merged.names = top.names;
  const links = new LinkRecords(bottom.first, top.names);
  try {
    merged.resizeArrays(count);
    merged.count = top.count;
    merged.slots = new OidSlots(count);
    for (const table of [...tables].reverse()) {
      for (let start = 0; start < table.ownCount; start += COPIED_AT_ONCE) {
        copyObjects(table, merged, start);
        yield COPY_COST;
        // Another writer may have been quicker.
        if (!top.isHeld || tables.some(({ first }, index) => first !== firsts[index])) return;
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
  const shift = from.first - to.first;
  const end = Math.min(start + COPIED_AT_ONCE, from.ownCount);
  const copy = <T extends Uint8Array | Uint16Array | Int32Array | Uint32Array>(source: T, target: T, width = 1) =>
    target.set(source.subarray(start * width, end * width) as never, (start + shift) * width);
  copy(from.oids, to.oids, OID_BYTES);
  copy(from.types, to.types);
  copy(from.sizes, to.sizes);
  copy(from.segmentOf, to.segmentOf);
  copy(from.offsets, to.offsets);
  copy(from.ends, to.ends);
  copy(from.bases, to.bases);
  copy(from.refDeltas, to.refDeltas);
  copy(from.depths, to.depths);
  for (let at = start; at < end; at++) {
    to.slots.insert(to.oids, at + shift);
    to.completeSince[at + shift] = valid(from.completeSince[at]!, from);
    to.referencedSince[at + shift] = valid(from.referencedSince[at]!, from);
  }
}

/** What was found out by those who went on with its arrays, the table does not know. */
function valid(since: number, table: ObjectTable): number {
  return since <= table.count ? since : 0;
}

/** Segments, and what few objects have. Tables have to come from the bottom up. */
function copyRest(from: ObjectTable, to: ObjectTable): void {
  to.segments.push(...from.segments);
  to.loose.push(...from.loose);
  to.peeled = withThose(to.peeled, from.peeled, from);
  to.pinned = withThose(to.pinned, from.pinned, from);
  to.completeBelow = copySince(from.completeBelow, from, to.completeSince, to.completeBelow, to.first);
  to.referencedBelow = copySince(from.referencedBelow, from, to.referencedSince, to.referencedBelow, to.first);
}

function withThose<T>(
  known: Map<number, T> | undefined,
  added: ReadonlyMap<number, T> | undefined,
  { count }: ObjectTable,
): Map<number, T> | undefined {
  if (added === undefined) return known;
  return new Map([...(known ?? []), ...[...added].filter(([number]) => number < count)]);
}

/** The records of the table's objects, as far as they are kept, behind those in `links`. */
function copyLinks(from: ObjectTable, to: ObjectTable, links: LinkRecords): void {
  const shift = from.first - to.first;
  const records = from.caches.links;
  const added = records === undefined ? 0 : links.append(records);
  for (let at = 0; at < from.ownCount; at++) {
    const place = from.linksAt[at]!;
    const isKept = records !== undefined && place < records.settled && from.first + at >= records.first;
    to.linksAt[at + shift] = isKept && place !== NO_RECORD ? place + added : NO_RECORD;
  }
}

/** Notes of objects that are now in the same table go into its array. */
function copySince(
  notes: ReadonlyMap<number, number> | undefined,
  from: ObjectTable,
  array: Uint32Array,
  known: Map<number, number> | undefined,
  first: number,
): Map<number, number> | undefined {
  let below = known;
  for (const [number, since] of notes ?? []) {
    if (since > from.count) continue;
    if (number < first) {
      below ??= new Map();
      if (!below.has(number)) below.set(number, since);
    } else if (array[number - first] === 0) array[number - first] = since;
  }
  return below;
}
