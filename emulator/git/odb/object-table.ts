import { resized } from '../../memory/growable.js';
import type { SharedBytes } from '../../memory/memory-budget.js';
import { type Oid, oidIn, type TypeCode } from '../object/object.js';
import { OID_BYTES, OidSlots } from '../object/oid-slots.js';
import { TreeNames } from '../object/tree-names.js';
import type { Segment } from '../pack/segment.js';
import type { TableCaches } from './table-caches.js';

/** In place of a base's number: the entry is no delta. */
export const UNDELTIFIED = -1;
/** Bytes of all arrays of a table. */
export const BYTES_PER_OBJECT = OID_BYTES + 36;

const NO_BYTES = new Uint8Array(0);
const NO_SHORTS = new Uint16Array(0);
const NO_INTS = new Int32Array(0);
const NO_NUMBERS = new Uint32Array(0);

type Column = Uint8Array | Uint16Array | Int32Array | Uint32Array;

/** The arrays of a table, and their elements per object. */
export const COLUMNS = [
  ['oids', OID_BYTES],
  ['types', 1],
  ['sizes', 1],
  ['segmentOf', 1],
  ['offsets', 1],
  ['ends', 1],
  ['bases', 1],
  ['refDeltas', 1],
  ['depths', 1],
  ['linksAt', 1],
  ['completeSince', 1],
  ['referencedSince', 1],
] as const;

/** How far a table is filled. */
export interface Extent {
  readonly count: number;
  readonly segments: number;
  readonly looseBytes: number;
  /** Bytes held beside the arrays. */
  readonly held: number;
  /** Objects that the arrays have room for. */
  readonly room: number;
}

/**
 * What is known of each object, by number, in typed arrays; and the segments that have the bytes.
 *
 * A table may lie on another, which never changes: numbers before `first` are those of `below`. So a store and its forks
 * have in common what they have in common. An array's index is the number less `first`.
 */
export class ObjectTable {
  /** The number of its own first object. */
  first: number;
  /** Objects, with those below. */
  count: number;
  below: ObjectTable | undefined;
  oids = NO_BYTES;
  types = NO_BYTES;
  sizes = NO_NUMBERS;
  /** From 0 on a pack's segment; from -1 down a segment of loose objects: bodies as they are, not deflated and without a header. */
  segmentOf = NO_INTS;
  offsets = NO_NUMBERS;
  ends = NO_NUMBERS;
  bases = NO_INTS;
  refDeltas = NO_BYTES;
  /** Deltas between the object and the nearest body that is whole or pinned. */
  depths = NO_SHORTS;
  /** Where the object's record is in the table's `LinkRecords`, or `NO_RECORD`. */
  linksAt = NO_INTS;
  /** How many objects there have to be for everything reachable from the object to be here; 0: that is not known. */
  completeSince = NO_NUMBERS;
  /** How many objects there have to be for another one to point at it; 0: none does, as far as was found out. */
  referencedSince = NO_NUMBERS;
  /** The same of objects below. */
  completeBelow = new Map<number, number>();
  referencedBelow = new Map<number, number>();
  /** Numbers by id, less `first`; of published objects only. */
  slots: OidSlots;
  /** Where tags of tags lead in the end. */
  peeled = new Map<number, number>();
  /** Bodies that stay at hand. */
  pinned = new Map<number, Buffer>();
  /** What trees say, by number; of all tables that lie on each other. */
  names: TreeNames;
  /** Its own segments: of packs, and of loose objects. The first ones have these numbers. */
  segments: Segment[] = [];
  loose: Segment[] = [];
  firstSegment: number;
  firstLoose: number;
  /** Loose objects among those that are published, with those below. */
  looseCount: number;
  /** What it has in common with others of the bytes beside its arrays. */
  protected sharedBytes: SharedBytes | undefined;
  protected sharedArrays: SharedBytes | undefined;
  #holders = 1;

  /** `below` is held for as long as the table is. */
  constructor(
    readonly caches: TableCaches,
    below?: ObjectTable,
  ) {
    this.below = below?.hold();
    this.names = below?.names ?? new TreeNames();
    this.sharedBytes = below?.sharedBytes?.hold();
    this.first = below?.count ?? 0;
    this.count = this.first;
    this.slots = NO_SLOTS;
    this.firstSegment = below?.segmentCount ?? 0;
    this.firstLoose = below === undefined ? 0 : below.firstLoose + below.loose.length;
    this.looseCount = below?.looseCount ?? 0;
  }

  /** Its own objects. */
  get ownCount(): number {
    return this.count - this.first;
  }

  /** Segments of packs, with those below. */
  get segmentCount(): number {
    return this.firstSegment + this.segments.length;
  }

  /** Bytes held, shared or not, with those below. */
  get heldBytes(): number {
    let bytes = this.sharedBytes?.total ?? 0;
    for (let table: ObjectTable | undefined = this; table !== undefined; table = table.below)
      bytes += table.sharedArrays?.total ?? 0;
    return bytes;
  }

  /** Keeps it held. After the last release nothing is held any more: a store that is put on the table then only reads. */
  hold(): this {
    if (this.#holders > 0) this.#holders++;
    return this;
  }

  /** Lets go of it; the last to do so gives back what it holds. Readers under way end with what they have. */
  release(): void {
    if (this.#holders === 0 || --this.#holders > 0) return;
    this.sharedArrays?.release();
    this.sharedBytes?.release();
    this.sharedArrays = undefined;
    this.sharedBytes = undefined;
    this.below?.release();
    this.caches.group.close();
  }

  get isHeld(): boolean {
    return this.#holders > 0;
  }

  /** The table that has the object itself. */
  tableOf(number: number): ObjectTable {
    let table: ObjectTable = this;
    while (number < table.first && table.below !== undefined) table = table.below;
    return table;
  }

  /** The number of the published object with the id at `at`, or -1. */
  find(bytes: Uint8Array, at: number): number {
    const own = this.slots.find(this.oids, bytes, at);
    if (own >= 0 && own < this.ownCount) return own + this.first;
    for (let table = this.below; table !== undefined; table = table.below) {
      const found = table.slots.find(table.oids, bytes, at);
      // The table of ids is shared with the one it was made of, which goes on behind its end.
      if (found >= 0 && found < table.ownCount) return found + table.first;
    }
    return -1;
  }

  /** Ids among the first `count` that start with the digits `prefix`, in order, at most `limit`. */
  findPrefix(count: number, prefix: string, limit: number): Oid[] {
    const found: Oid[] = [];
    for (let table: ObjectTable | undefined = this; table !== undefined; table = table.below) {
      const own = Math.min(count, table.count) - table.first;
      found.push(...findPrefix(table.oids, own, prefix, limit));
    }
    return this.below === undefined ? found : found.sort().slice(0, limit);
  }

  oidOf(number: number): Oid {
    const table = this.tableOf(number);
    const start = (number - table.first) * OID_BYTES;
    return oidIn(Buffer.from(table.oids.buffer, table.oids.byteOffset + start, OID_BYTES));
  }

  copyOid(number: number, target: Uint8Array, at: number): void {
    const { oids, first } = this.tableOf(number);
    const start = (number - first) * OID_BYTES;
    for (let byte = 0; byte < OID_BYTES; byte++) target[at + byte] = oids[start + byte]!;
  }

  typeOf(number: number): TypeCode {
    const { types, first } = this.tableOf(number);
    return types[number - first] as TypeCode;
  }

  sizeOf(number: number): number {
    const { sizes, first } = this.tableOf(number);
    return sizes[number - first]!;
  }

  /** The number of what the object is stored as a delta on, or `UNDELTIFIED`. */
  baseOf(number: number): number {
    const { bases, first } = this.tableOf(number);
    return bases[number - first]!;
  }

  segmentOfObject(number: number): number {
    const { segmentOf, first } = this.tableOf(number);
    return segmentOf[number - first]!;
  }

  isLoose(number: number): boolean {
    return this.segmentOfObject(number) < 0;
  }

  /** Where the object's bytes start in their segment: the header of an entry, or a body. */
  offsetOf(number: number): number {
    const { offsets, first } = this.tableOf(number);
    return offsets[number - first]!;
  }

  endOf(number: number): number {
    const { ends, first } = this.tableOf(number);
    return ends[number - first]!;
  }

  /** Where the object's record is, if `linksOf` it. */
  placeOf(number: number): number {
    const { linksAt, first } = this.tableOf(number);
    return linksAt[number - first]!;
  }

  isRefDelta(number: number): boolean {
    const { refDeltas, first } = this.tableOf(number);
    return refDeltas[number - first] === 1;
  }

  /** Deltas to apply to have the object. */
  depthOf(number: number): number {
    const { depths, first } = this.tableOf(number);
    return depths[number - first]!;
  }

  peeledOf(tag: number): number | undefined {
    return this.tableOf(tag).peeled.get(tag);
  }

  /** A segment by its number in `segmentOf`. */
  segmentAt(index: number): Segment {
    let table: ObjectTable = this;
    if (index < 0) {
      while (~index < table.firstLoose) table = table.below!;
      return table.loose[~index - table.firstLoose]!;
    }
    while (index < table.firstSegment) table = table.below!;
    return table.segments[index - table.firstSegment]!;
  }

  /** Whether everything reachable from the object is known to be here. */
  isComplete(number: number): boolean {
    for (let table: ObjectTable = this; ; table = table.below!) {
      const isOwn = number >= table.first;
      const since = isOwn ? table.completeSince[number - table.first]! : (table.completeBelow.get(number) ?? 0);
      if (since > 0 && since <= table.count) return true;
      if (isOwn) return false;
    }
  }

  /** Whether one of the first `count` objects, which have to be all or those without a quarantine, points at it. */
  isReferenced(number: number, count = this.count): boolean {
    for (let table: ObjectTable = this; ; table = table.below!) {
      const isOwn = number >= table.first;
      const since = isOwn ? table.referencedSince[number - table.first]! : (table.referencedBelow.get(number) ?? 0);
      if (since > 0 && since <= count && since <= table.count) return true;
      if (isOwn) return false;
    }
  }

  /** Objects among the first `count` that none of them points at. */
  *unreferenced(count: number): Generator<number> {
    for (let table: ObjectTable | undefined = this; table !== undefined; table = table.below) {
      const { first, referencedSince } = table;
      const end = Math.min(count, table.count);
      for (let number = first; number < end; number++) {
        const since = referencedSince[number - first]!;
        if ((since === 0 || since > end) && (table === this || !this.isReferenced(number, count))) yield number;
      }
    }
  }

  /** A table of the objects up to `extent` that never changes and lies where this one lies. It shares the arrays. */
  freeze(extent: Extent): ObjectTable {
    this.caches.group.hold();
    const frozen = new ObjectTable(this.caches, this.below);
    frozen.names = this.names;
    frozen.sharedBytes?.release();
    frozen.count = extent.count;
    frozen.shareContent(this);
    frozen.segments = this.segments.slice(0, extent.segments);
    frozen.loose = extent.looseBytes === 0 ? [] : this.loose.map((segment) => segment.upTo(extent.looseBytes));
    frozen.looseCount = this.looseCount;
    frozen.sharedBytes = this.sharedBytes?.hold();
    frozen.sharedArrays = this.sharedArrays?.hold();
    return frozen;
  }

  /**
   * Takes over the objects of `merged`, which are its own and those of the tables down to the one with the same first
   * object. `arrays`: what these are counted as.
   */
  replaceWith(merged: ObjectTable, arrays: SharedBytes): void {
    const before = this.below;
    this.below = merged.below?.hold();
    before?.release();
    this.shareContent(merged);
    const { first, firstSegment, firstLoose, segments, loose } = merged;
    Object.assign(this, { first, firstSegment, firstLoose, segments, loose });
    this.sharedArrays?.release();
    this.sharedArrays = arrays;
  }

  /** Uses the arrays and maps of another table. */
  private shareContent(from: ObjectTable): void {
    const { slots, peeled, pinned, completeBelow, referencedBelow } = from;
    Object.assign(this, { slots, peeled, pinned, completeBelow, referencedBelow });
    for (const [name] of COLUMNS) Object.assign(this, { [name]: from[name] });
  }

  /** Gives the arrays room for so many objects. */
  resizeArrays(room: number): void {
    for (const [name, width] of COLUMNS) Object.assign(this, { [name]: resized<Column>(this[name], room * width) });
  }
}

/** The table of ids of all tables that have none. */
const NO_SLOTS = new OidSlots();

/**
 * Ids among the first `count` that start with the digits `prefix`, in order, at most `limit`.
 *
 * A scan: abbreviated ids are for people, and a million ids are looked through in some milliseconds.
 */
function findPrefix(oids: Uint8Array, count: number, prefix: string, limit: number): Oid[] {
  const whole = prefix.length >> 1;
  const wanted = Buffer.from(prefix.slice(0, whole * 2), 'hex');
  const half = prefix.length % 2 === 0 ? -1 : Number.parseInt(prefix.slice(-1), 16);
  const found: Oid[] = [];
  for (let at = 0, end = count * OID_BYTES; at < end; at += OID_BYTES) {
    let same = 0;
    while (same < whole && oids[at + same] === wanted[same]) same++;
    if (same < whole || (half >= 0 && oids[at + whole]! >> 4 !== half)) continue;
    found.push(oidIn(Buffer.from(oids.buffer, oids.byteOffset + at, OID_BYTES)));
  }
  return found.sort().slice(0, limit);
}
