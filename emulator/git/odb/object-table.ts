import { resized } from '../../memory/growable.js';
import type { SharedBytes } from '../../memory/memory-budget.js';
import { type Oid, oidIn, type TypeCode } from '../object/object.js';
import { OID_BYTES, OidSlots } from '../object/oid-slots.js';
import { TreeNames } from '../object/tree-names.js';
import type { Segment } from '../pack/segment.js';
import type { TableCaches } from './table-caches.js';

/** Value of the delta base of an object that is not stored as a delta. It stands in place of an object number. */
export const UNDELTIFIED = -1;
/** Memory in bytes that one object needs in the arrays of an `ObjectTable`. */
export const BYTES_PER_OBJECT = OID_BYTES + 36;

const NO_BYTES = new Uint8Array(0);
const NO_SHORTS = new Uint16Array(0);
const NO_INTS = new Int32Array(0);
const NO_NUMBERS = new Uint32Array(0);

type Column = Uint8Array | Uint16Array | Int32Array | Uint32Array;

/** Names of the arrays of an `ObjectTable`, with the number of array elements per object. */
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

/** Fill level of a table. The table can be truncated to it when a write is discarded. */
export interface Extent {
  readonly count: number;
  readonly segments: number;
  readonly looseBytes: number;
  /** Memory in bytes that only this table counts. Its arrays and memory shared with other tables are not included. */
  readonly held: number;
  /** Capacity of the arrays, as a number of objects. */
  readonly room: number;
}

/**
 * Index of the objects of a store: arrays with one element per object (struct of arrays). The bytes of the objects are
 * in segments. A segment is memory that contains either one received pack or loose objects.
 *
 * Copy-on-write: a fork stores only its own objects and reads all others from an immutable table `parent`. Numbers less
 * than `firstNumber` belong to the parent. An object's index in the arrays is its number minus `firstNumber`.
 */
export class ObjectTable {
  /** Number of the first object that is stored in this table and not in a parent table. */
  firstNumber: number;
  /** Number of objects, including those of the parent tables. */
  count: number;
  parent: ObjectTable | undefined;
  oids = NO_BYTES;
  types = NO_BYTES;
  sizes = NO_NUMBERS;
  /**
   * Number of the segment that contains the bytes of each object. Numbers from 0 up are segments of packs. Negative
   * numbers are segments of loose objects, which are stored uncompressed and without a header.
   */
  segmentOf = NO_INTS;
  offsets = NO_NUMBERS;
  ends = NO_NUMBERS;
  bases = NO_INTS;
  refDeltas = NO_BYTES;
  /**
   * Number of deltas that must be applied to read the object. The first delta is applied to a body that is stored whole
   * or pinned (kept inflated in memory).
   */
  depths = NO_SHORTS;
  /** Position of the object's record (decoded commit or tree) in the table's `LinkRecords`, or `NO_RECORD`. */
  linksAt = NO_INTS;
  /**
   * Smallest number of objects in a table at which everything reachable from the object is present; 0 if unknown. It is
   * a number and not a flag, because forks with fewer objects may share this array.
   */
  completeSince = NO_NUMBERS;
  /** Smallest number of objects in a table at which another object refers to this one; 0 if unknown. */
  referencedSince = NO_NUMBERS;
  /** Values of `completeSince` and `referencedSince` for objects of the parent tables, whose arrays must not change. */
  completeBelow = new Map<number, number>();
  referencedBelow = new Map<number, number>();
  /** Hash table from an object id to the index in the arrays of this table. Contains only published objects. */
  slots: OidSlots;
  /** Object number at the end of a chain of annotated tags, by the number of each tag in the chain except the last. */
  peeled = new Map<number, number>();
  /** Inflated bodies that stay in memory, by object number. They limit the number of deltas that a read must apply. */
  pinned = new Map<number, Buffer>();
  /** Table that stores each name and mode of tree entries once and numbers it. This table and its parents share it. */
  names: TreeNames;
  /**
   * Intern table (each value stored once) for names and modes of tree entries. Shared by this table and its parents.
   */
  segments: Segment[] = [];
  loose: Segment[] = [];
  firstSegment: number;
  firstLoose: number;
  /** Number of published loose objects, including those of the parent tables. */
  looseCount: number;
  /** Counters for memory shared with other tables: `sharedArrays` for the arrays, `sharedBytes` for the rest. */
  protected sharedBytes: SharedBytes | undefined;
  protected sharedArrays: SharedBytes | undefined;
  #holders = 1;

  /**
   * Creates an empty table. Its object numbers begin after those of `parent`. Adds a reference to `parent`, whose
   * memory is therefore released after that of this table.
   */
  constructor(
    readonly caches: TableCaches,
    parent?: ObjectTable,
  ) {
    this.parent = parent?.hold();
    this.names = parent?.names ?? new TreeNames();
    this.sharedBytes = parent?.sharedBytes?.hold();
    this.firstNumber = parent?.count ?? 0;
    this.count = this.firstNumber;
    this.slots = NO_SLOTS;
    this.firstSegment = parent?.segmentCount ?? 0;
    this.firstLoose = parent === undefined ? 0 : parent.firstLoose + parent.loose.length;
    this.looseCount = parent?.looseCount ?? 0;
  }

  /** Number of objects in this table itself, without those of its parents. */
  get ownCount(): number {
    return this.count - this.firstNumber;
  }

  /** Number of pack segments, including those of the parent tables. */
  get segmentCount(): number {
    return this.firstSegment + this.segments.length;
  }

  /** Memory in bytes of this table and its parents. Memory shared with other tables is included. */
  get heldBytes(): number {
    let bytes = this.sharedBytes?.total ?? 0;
    for (let table: ObjectTable | undefined = this; table !== undefined; table = table.parent)
      bytes += table.sharedArrays?.total ?? 0;
    return bytes;
  }

  /**
   * Adds a reference to this table. The call has no effect after the last `release`. A store that uses the table after
   * that can only read.
   */
  hold(): this {
    if (this.#holders > 0) this.#holders++;
    return this;
  }

  /**
   * Removes a reference to this table. When no reference is left, the memory is no longer counted in the budget.
   * Readers that are still running keep their data.
   */
  release(): void {
    if (this.#holders === 0 || --this.#holders > 0) return;
    this.sharedArrays?.release();
    this.sharedBytes?.release();
    this.sharedArrays = undefined;
    this.sharedBytes = undefined;
    this.parent?.release();
    this.caches.group.close();
  }

  get isHeld(): boolean {
    return this.#holders > 0;
  }

  /** Returns the table in which the object is stored: this table or one of its parents. */
  tableOf(number: number): ObjectTable {
    let table: ObjectTable = this;
    while (number < table.firstNumber && table.parent !== undefined) table = table.parent;
    return table;
  }

  /** Returns the number of the published object whose id is the 20 bytes at offset `at` of `bytes`, or -1 if absent. */
  find(bytes: Uint8Array, at: number): number {
    const own = this.slots.find(this.oids, bytes, at);
    if (own >= 0 && own < this.ownCount) return own + this.firstNumber;
    for (let table = this.parent; table !== undefined; table = table.parent) {
      const found = table.slots.find(table.oids, bytes, at);
      // Hits with an index of at least `ownCount` are ignored. A frozen parent table shares its hash table with a table
      // that has grown since, and these objects were added later.
      if (found >= 0 && found < table.ownCount) return found + table.firstNumber;
    }
    return -1;
  }

  /**
   * Returns at most `limit` ids of the first `count` objects that start with the hexadecimal digits `prefix`, sorted.
   */
  findPrefix(count: number, prefix: string, limit: number): Oid[] {
    const found: Oid[] = [];
    for (let table: ObjectTable | undefined = this; table !== undefined; table = table.parent) {
      const own = Math.min(count, table.count) - table.firstNumber;
      found.push(...findPrefix(table.oids, own, prefix, limit));
    }
    return this.parent === undefined ? found : found.sort().slice(0, limit);
  }

  oidOf(number: number): Oid {
    const table = this.tableOf(number);
    const start = (number - table.firstNumber) * OID_BYTES;
    return oidIn(Buffer.from(table.oids.buffer, table.oids.byteOffset + start, OID_BYTES));
  }

  copyOid(number: number, target: Uint8Array, at: number): void {
    const { oids, firstNumber: first } = this.tableOf(number);
    const start = (number - first) * OID_BYTES;
    for (let byte = 0; byte < OID_BYTES; byte++) target[at + byte] = oids[start + byte]!;
  }

  typeOf(number: number): TypeCode {
    const { types, firstNumber: first } = this.tableOf(number);
    return types[number - first] as TypeCode;
  }

  sizeOf(number: number): number {
    const { sizes, firstNumber: first } = this.tableOf(number);
    return sizes[number - first]!;
  }

  /** Returns the number of the object's delta base, or `UNDELTIFIED` if it is not stored as a delta. */
  baseOf(number: number): number {
    const { bases, firstNumber: first } = this.tableOf(number);
    return bases[number - first]!;
  }

  segmentOfObject(number: number): number {
    const { segmentOf, firstNumber: first } = this.tableOf(number);
    return segmentOf[number - first]!;
  }

  isLoose(number: number): boolean {
    return this.segmentOfObject(number) < 0;
  }

  /** Returns the offset of the object in its segment: that of its entry header, or that of its body if it is loose. */
  offsetOf(number: number): number {
    const { offsets, firstNumber: first } = this.tableOf(number);
    return offsets[number - first]!;
  }

  endOf(number: number): number {
    const { ends, firstNumber: first } = this.tableOf(number);
    return ends[number - first]!;
  }

  /**
   * Returns the position of the object's link record (decoded commit or tree). The position is valid only if `linksOf`
   * returns records for the object.
   */
  placeOf(number: number): number {
    const { linksAt, firstNumber: first } = this.tableOf(number);
    return linksAt[number - first]!;
  }

  isRefDelta(number: number): boolean {
    const { refDeltas, firstNumber: first } = this.tableOf(number);
    return refDeltas[number - first] === 1;
  }

  /** Returns the number of deltas to apply to read the object, starting at a body that is stored whole or pinned. */
  depthOf(number: number): number {
    const { depths, firstNumber: first } = this.tableOf(number);
    return depths[number - first]!;
  }

  peeledOf(tag: number): number | undefined {
    return this.tableOf(tag).peeled.get(tag);
  }

  /** Returns the segment with the number `index`. Negative numbers are segments of loose objects. */
  segmentAt(index: number): Segment {
    let table: ObjectTable = this;
    if (index < 0) {
      while (~index < table.firstLoose) table = table.parent!;
      return table.loose[~index - table.firstLoose]!;
    }
    while (index < table.firstSegment) table = table.parent!;
    return table.segments[index - table.firstSegment]!;
  }

  /** Returns true if everything reachable from the object is known to be present. */
  isComplete(number: number): boolean {
    for (let table: ObjectTable = this; ; table = table.parent!) {
      const isOwn = number >= table.firstNumber;
      const since = isOwn ? table.completeSince[number - table.firstNumber]! : (table.completeBelow.get(number) ?? 0);
      if (since > 0 && since <= table.count) return true;
      if (isOwn) return false;
    }
  }

  /**
   * Returns true if one of the first `count` objects refers to the object `number`. `count` must be the number of all
   * objects or of all published objects, because marks exist only for these two numbers.
   */
  isReferenced(number: number, count = this.count): boolean {
    for (let table: ObjectTable = this; ; table = table.parent!) {
      const isOwn = number >= table.firstNumber;
      const since = isOwn
        ? table.referencedSince[number - table.firstNumber]!
        : (table.referencedBelow.get(number) ?? 0);
      if (since > 0 && since <= count && since <= table.count) return true;
      if (isOwn) return false;
    }
  }

  /** Yields the numbers of those of the first `count` objects to which no other of them refers. */
  *unreferenced(count: number): Generator<number> {
    for (let table: ObjectTable | undefined = this; table !== undefined; table = table.parent) {
      const { firstNumber: first, referencedSince } = table;
      const end = Math.min(count, table.count);
      for (let number = first; number < end; number++) {
        const since = referencedSince[number - first]!;
        if ((since === 0 || since > end) && (table === this || !this.isReferenced(number, count))) yield number;
      }
    }
  }

  /**
   * Returns an immutable table with the objects that this table had at the fill level `extent`. A fork of the store
   * uses the new table as its parent. Both tables use the arrays of this table, so nothing is copied.
   */
  freeze(extent: Extent): ObjectTable {
    this.caches.group.hold();
    const frozen = new ObjectTable(this.caches, this.parent);
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
   * Replaces the content of this table by the content of `merged`. `merged` contains the objects of this table and of
   * some of its parents. `arrays` counts the memory of the new arrays.
   */
  replaceWith(merged: ObjectTable, arrays: SharedBytes): void {
    const before = this.parent;
    this.parent = merged.parent?.hold();
    before?.release();
    this.shareContent(merged);
    this.firstNumber = merged.firstNumber;
    this.firstSegment = merged.firstSegment;
    this.firstLoose = merged.firstLoose;
    this.segments = merged.segments;
    this.loose = merged.loose;
    this.sharedArrays?.release();
    this.sharedArrays = arrays;
  }

  /** Makes this table use the arrays and maps of `from`, without copying them. */
  private shareContent(from: ObjectTable): void {
    const { slots, peeled, pinned, completeBelow, referencedBelow } = from;
    Object.assign(this, { slots, peeled, pinned, completeBelow, referencedBelow });
    for (const [name] of COLUMNS) Object.assign(this, { [name]: from[name] });
  }

  /** Resizes the arrays to a capacity of `room` objects. */
  resizeArrays(room: number): void {
    for (const [name, width] of COLUMNS) Object.assign(this, { [name]: resized<Column>(this[name], room * width) });
  }
}

/** Empty hash table that all tables without published objects share. */
const NO_SLOTS = new OidSlots();

/**
 * Returns at most `limit` of the first `count` ids that start with the hexadecimal digits `prefix`, sorted.
 *
 * Scans all ids, because only people use abbreviated ids, and scanning a million ids takes a few milliseconds.
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
