import type { MemoryBudget } from '../../memory/memory-budget.js';
import { permute } from '../../memory/permute.js';
import type { Meter } from '../../schedule/meter.js';
import type { TypeCode } from '../object/object.js';
import { OID_BYTES, type OidSlots } from '../object/oid-slots.js';
import { Segment } from '../pack/segment.js';
import { LinkRecords, NO_RECORD } from './link-records.js';
import { BYTES_PER_OBJECT, COLUMNS, type Extent, ObjectTable, UNDELTIFIED } from './object-table.js';
import type { TableCaches } from './table-caches.js';

/** Approximate memory of one map entry in bytes. */
const BYTES_PER_PEELED = 40;
/**
 * Maximum number of deltas between an object and the next inflated body. In longer chains, bodies are pinned at this
 * interval.
 */
const LONGEST_CHAIN = 256;

/** Position of the bytes of an object. */
export interface EntryLocation {
  /** Segment number, as in `ObjectTable.segmentOf`. */
  readonly segment: number;
  /** Offset of the entry's header in a pack segment, or of the body in a loose segment. */
  readonly offset: number;
  readonly end: number;
  /** Object number of the delta's base, or `UNDELTIFIED`. */
  readonly base: number;
  /** True if the entry is a `REF_DELTA`, which identifies its base by id instead of distance. */
  readonly isRefDelta: boolean;
}

/**
 * Object table that grows. `freeze` returns an immutable view of its published part. The two then share that memory,
 * which counts in the budget until the last of them releases it.
 */
export class GrowingTable extends ObjectTable {
  /** Number of objects that the arrays have capacity for, as far as it counts in `budget`. */
  #heldRoom = 0;
  /** Bytes in `budget` beside the arrays. */
  #held = 0;
  /** Link records that are being written, and their length before the current writer began. */
  #links: LinkRecords | undefined;
  #linksBefore = 0;

  constructor(
    caches: TableCaches,
    readonly budget: MemoryBudget,
    parent?: ObjectTable,
  ) {
    super(caches, parent);
  }

  override get heldBytes(): number {
    return super.heldBytes + this.budget.used;
  }

  /** Current fill level. */
  get extent(): Extent {
    return {
      count: this.count,
      segments: this.segments.length,
      looseBytes: this.loose[0]?.length ?? 0,
      held: this.#held,
      room: this.types.length,
    };
  }

  /** Counts `bytes` in the budget; a negative number releases them. Throws `StoreFull`. */
  take(bytes: number): void {
    if (bytes > 0) this.budget.take(bytes);
    // Bytes shared with other tables are not released by this table.
    const counted = Math.max(bytes, -this.#held);
    if (counted < 0) this.budget.give(-counted);
    this.#held += counted;
  }

  /** Adds an empty pack segment. Returns it with its number. */
  addSegment(): { segment: Segment; index: number } {
    const segment = new Segment((bytes) => this.take(bytes));
    const index = this.segmentCount;
    this.segments.push(segment);
    return { segment, index };
  }

  /** Removes the newest segment. No object may be left in it. */
  dropLastSegment(): void {
    this.segments.pop()!.truncate(0);
  }

  /** Segment to which loose objects are written now. */
  get looseSegment(): Segment {
    if (this.loose.length === 0) this.loose.push(new Segment((bytes) => this.take(bytes)));
    return this.loose[0]!;
  }

  /** Segment number of `looseSegment`. */
  get looseIndex(): number {
    return ~this.firstLoose;
  }

  /**
   * Adds an object under the id at the start of `oid`. Returns its number. If it `wantsPin`, the caller must pin it
   * before adding the next object.
   */
  add(type: TypeCode, size: number, entry: EntryLocation, oid: Uint8Array): number {
    const at = this.ownCount;
    if (at === this.types.length) this.#resize(Math.max(16, at * 2));
    const start = at * OID_BYTES;
    for (let byte = 0; byte < OID_BYTES; byte++) this.oids[start + byte] = oid[byte]!;
    this.types[at] = type;
    this.sizes[at] = size;
    this.segmentOf[at] = entry.segment;
    this.offsets[at] = entry.offset;
    this.ends[at] = entry.end;
    this.bases[at] = entry.base;
    this.refDeltas[at] = entry.isRefDelta ? 1 : 0;
    this.completeSince[at] = 0;
    this.referencedSince[at] = 0;
    const depth = entry.base === UNDELTIFIED ? 0 : this.depthOf(entry.base) + 1;
    this.depths[at] = depth % LONGEST_CHAIN;
    this.linksAt[at] = NO_RECORD;
    return this.count++;
  }

  /** Returns true if the object ends a delta chain so long that its body must be kept in memory. */
  wantsPin(number: number): boolean {
    return this.baseOf(number) !== UNDELTIFIED && this.depthOf(number) === 0;
  }

  /** Keeps the body in memory as long as the object exists. */
  pin(number: number, body: Buffer): void {
    this.take(body.length);
    this.pinned.set(number, body);
  }

  /**
   * Reorders the objects from `first` on: `order` lists their current numbers in the new order. Bases, caches and
   * pinned bodies are renumbered too. The numbers are invalid while it runs. Returns the new number of each object, by
   * its old number less `first`.
   */
  async reorder(first: number, order: Int32Array, meter: Meter): Promise<Int32Array> {
    const moved = new Int32Array(order.length);
    for (let index = 0; index < order.length; index++) moved[order[index]! - first] = first + index;
    const own = first - this.firstNumber;
    const from = this.firstNumber === 0 ? order : order.map((number) => number - this.firstNumber);
    for (const [name, width] of COLUMNS) await permute(this[name], width, own, from, meter);
    for (let at = own; at < this.ownCount; at++) {
      const base = this.bases[at]!;
      if (base >= first) this.bases[at] = moved[base - first]!;
    }
    this.caches.renumber(first, moved);
    const pinned = [...this.pinned].filter(([number]) => number >= first);
    for (const [number] of pinned) this.pinned.delete(number);
    for (const [number, body] of pinned) this.pinned.set(moved[number - first]!, body);
    return moved;
  }

  /** Marks that everything reachable from the object is present once the store has `since` objects. */
  setComplete(number: number, since: number): void {
    if (this.isComplete(number)) return;
    if (number < this.firstNumber) this.completeBelow.set(number, since);
    else this.completeSince[number - this.firstNumber] = since;
  }

  /** Marks that another object points at this one once the store has `since` objects. */
  setReferenced(number: number, since: number): void {
    if (this.isReferenced(number)) return;
    if (number < this.firstNumber) this.referencedBelow.set(number, since);
    else this.referencedSince[number - this.firstNumber] = since;
  }

  /** Records the object at the end of a chain of tags. */
  setPeeled(tag: number, target: number): void {
    this.take(BYTES_PER_PEELED);
    this.peeled.set(tag, target);
  }

  /** Removes everything after `extent`. */
  truncate({ count, segments, looseBytes, room }: Extent): void {
    this.caches.forgetQuarantine();
    this.#links?.truncate(this.#linksBefore);
    this.#links = undefined;
    for (const [number, body] of this.pinned) {
      if (number < count) continue;
      this.pinned.delete(number);
      this.take(-body.length);
    }
    for (const tag of this.peeled.keys()) {
      if (tag < count) continue;
      this.peeled.delete(tag);
      this.take(-BYTES_PER_PEELED);
    }
    const own = count - this.firstNumber;
    this.oids.fill(0, own * OID_BYTES, this.ownCount * OID_BYTES);
    this.count = count;
    // Shrinks the arrays again after a rejected write, unless they were already that large. Arrays shared with a
    // snapshot stay unchanged.
    if (this.#heldRoom > room) this.#resize(room);
    while (this.segments.length > segments) this.dropLastSegment();
    this.loose[0]?.truncate(looseBytes);
  }

  /**
   * Publishes the objects from `from` on, so that they can be found by id. `added`: hash table of just these objects.
   */
  publish(from: number, added: OidSlots): void {
    const own = from - this.firstNumber;
    if (own === 0) this.slots = added;
    else {
      this.slots = this.slots.withRoom(this.oids, this.count - from);
      for (let at = own; at < this.ownCount; at++) this.slots.insert(this.oids, at);
    }
    for (let at = own; at < this.ownCount; at++) if (this.segmentOf[at]! < 0) this.looseCount++;
    this.caches.publish(this.count);
    this.#keepLinks(own);
  }

  /** Link records to which the current writer adds, until they are published or discarded. */
  get newLinks(): LinkRecords {
    if (this.#links === undefined) {
      this.#links = this.caches.links ?? new LinkRecords(this.count, this.names);
      this.#linksBefore = this.#links.length;
    }
    return this.#links;
  }

  setLinks(number: number, place: number): void {
    this.linksAt[number - this.firstNumber] = place;
  }

  /**
   * Returns the `LinkRecords` that contain the object's record; undefined if the record is absent or not yet readable.
   */
  linksOf(number: number): LinkRecords | undefined {
    const table = this.tableOf(number);
    const place = table.linksAt[number - table.firstNumber]!;
    if (place === NO_RECORD) return undefined;
    const records = (table === this && this.#links) || table.caches.links;
    return records !== undefined && records.first <= number && place < records.settled ? records : undefined;
  }

  #keepLinks(from: number): void {
    const links = this.#links;
    if (links === undefined) return;
    this.#links = undefined;
    if (links.length === this.#linksBefore) return;
    if (links.settled === links.length) {
      links.seal();
      this.caches.keepLinks(links);
    } else {
      links.truncate(this.#linksBefore);
      this.linksAt.fill(NO_RECORD, from, this.ownCount);
    }
  }

  /** See `ObjectTable.freeze`. The bytes up to `extent` then count as shared by both tables. */
  override freeze(extent: Extent): ObjectTable {
    if (this.#heldRoom > 0) {
      this.sharedArrays?.release();
      this.sharedArrays = this.budget.share(this.#heldRoom * BYTES_PER_OBJECT);
      this.#heldRoom = 0;
    }
    if (extent.held > 0) {
      const shared = this.budget.share(extent.held, this.sharedBytes);
      this.sharedBytes?.release();
      this.sharedBytes = shared;
      this.#held -= extent.held;
    }
    return super.freeze(extent);
  }

  /**
   * Releases everything counted in the budget. Allocations of a writer that is still running count until `giveBack` is
   * called again.
   */
  giveBack(): void {
    this.budget.give(this.budget.used);
    this.#heldRoom = 0;
    this.#held = 0;
  }

  #resize(room: number): void {
    const more = (room - this.#heldRoom) * BYTES_PER_OBJECT;
    if (more > 0) this.budget.take(more);
    else this.budget.give(-more);
    this.#heldRoom = room;
    this.sharedArrays?.release();
    this.sharedArrays = undefined;
    this.resizeArrays(room);
  }
}
