import type { MemoryBudget } from '../../memory/memory-budget.js';
import { permute } from '../../memory/permute.js';
import type { Meter } from '../../schedule/meter.js';
import type { TypeCode } from '../object/object.js';
import { OID_BYTES, type OidSlots } from '../object/oid-slots.js';
import { Segment } from '../pack/segment.js';
import { LinkRecords, NO_RECORD } from './link-records.js';
import { BYTES_PER_OBJECT, COLUMNS, type Extent, ObjectTable, UNDELTIFIED } from './object-table.js';
import type { TableCaches } from './table-caches.js';

/**
 * Approximate memory in bytes of one entry of the map `peeled`, which maps an annotated tag to the object at the end of
 * its chain of tags.
 */
const BYTES_PER_PEELED = 40;
/**
 * Maximum number of deltas that must be applied to read an object. In longer delta chains, every 256th body is pinned
 * (kept inflated in memory).
 */
const LONGEST_CHAIN = 256;

/** Location of the stored bytes of one object, with its delta base. */
export interface EntryLocation {
  /**
   * Number of the segment (memory that contains one received pack, or loose objects) that contains the bytes. Negative
   * for a segment of loose objects.
   */
  readonly segment: number;
  /** Offset in the segment of the first byte: of the entry header in a pack, or of the body of a loose object. */
  readonly offset: number;
  readonly end: number;
  /** Object number of the delta base, or `UNDELTIFIED` if the object is not stored as a delta. */
  readonly base: number;
  /**
   * True if the pack entry is a `REF_DELTA`, which identifies its delta base by id instead of by distance in the pack.
   */
  readonly isRefDelta: boolean;
}

/**
 * Table of a store's objects to which objects can be added.
 *
 * `freeze` returns an immutable view of the published objects, with which a fork of the store starts. The table and its
 * views share the memory of these objects, which counts in the memory budget until the last of them releases it.
 */
export class GrowingTable extends ObjectTable {
  /**
   * Capacity of the arrays, in objects, as far as this table alone counts their memory in `budget`; 0 if the arrays are
   * shared with another table.
   */
  #heldRoom = 0;
  /** Bytes that this table counts in `budget`, except those of the arrays: segments, pinned bodies and peeled tags. */
  #held = 0;
  /**
   * Link records (decoded commits and trees) that the current writer adds to; undefined if there is no writer.
   * `#linksBefore` is their length before that writer began.
   */
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

  /** Current fill level of the table. A writer keeps it so that `truncate` can undo the write. */
  get extent(): Extent {
    return {
      count: this.count,
      segments: this.segments.length,
      looseBytes: this.loose[0]?.length ?? 0,
      held: this.#held,
      room: this.types.length,
    };
  }

  /**
   * Counts `bytes` of newly allocated memory in the budget; a negative number releases memory. Throws `StoreFull` if
   * the limit is exceeded.
   */
  take(bytes: number): void {
    if (bytes > 0) this.budget.take(bytes);
    // `freeze` moves counted bytes to `sharedBytes`, because other tables may still use the memory. This table can
    // therefore give back at most the bytes that it still counts itself.
    const counted = Math.max(bytes, -this.#held);
    if (counted < 0) this.budget.give(-counted);
    this.#held += counted;
  }

  /** Adds an empty segment (memory for the bytes of one received pack). Returns it with its segment number. */
  addSegment(): { segment: Segment; index: number } {
    const segment = new Segment((bytes) => this.take(bytes));
    const index = this.segmentCount;
    this.segments.push(segment);
    return { segment, index };
  }

  /**
   * Removes the newest segment of a pack and releases its memory. The table must not contain an object of that segment.
   */
  dropLastSegment(): void {
    this.segments.pop()!.truncate(0);
  }

  /** Segment to which loose objects (uncompressed single objects) are written now. Created at the first use. */
  get looseSegment(): Segment {
    if (this.loose.length === 0) this.loose.push(new Segment((bytes) => this.take(bytes)));
    return this.loose[0]!;
  }

  /** Segment number of `looseSegment`, which is negative for loose objects. */
  get looseIndex(): number {
    return ~this.firstLoose;
  }

  /**
   * Adds an object, whose 20-byte id is at the start of `oid`. Returns its object number. If `wantsPin` returns true
   * for that number, the caller must call `pin` with its body before it adds the next object.
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

  /**
   * Returns true if the body of the object must be pinned (kept inflated in memory), because it is a delta at the end
   * of a chain of `LONGEST_CHAIN` deltas.
   */
  wantsPin(number: number): boolean {
    return this.baseOf(number) !== UNDELTIFIED && this.depthOf(number) === 0;
  }

  /**
   * Keeps the inflated body of an object in memory as long as the object exists, so that reading a long delta chain can
   * start at it.
   */
  pin(number: number, body: Buffer): void {
    this.take(body.length);
    this.pinned.set(number, body);
  }

  /**
   * Changes the numbers of the objects from `first` on. `order` lists their current numbers in the new order.
   * References to delta bases, caches and pinned bodies are renumbered too. No object number may be used until the
   * returned promise resolves. Resolves to the new numbers: index 0 is the new number of the object `first`.
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

  /**
   * Marks an object as complete (everything reachable from it is present). The mark is valid for tables that show at
   * least `since` objects, so it does not apply to forks with fewer objects.
   */
  setComplete(number: number, since: number): void {
    if (this.isComplete(number)) return;
    if (number < this.firstNumber) this.completeBelow.set(number, since);
    else this.completeSince[number - this.firstNumber] = since;
  }

  /**
   * Marks that another object refers to the object `number`. The mark is valid for tables that show at least `since`
   * objects, so it does not apply to forks with fewer objects.
   */
  setReferenced(number: number, since: number): void {
    if (this.isReferenced(number)) return;
    if (number < this.firstNumber) this.referencedBelow.set(number, since);
    else this.referencedSince[number - this.firstNumber] = since;
  }

  /** Records that the chain of annotated tags that starts at `tag` ends at the object `target`. */
  setPeeled(tag: number, target: number): void {
    this.take(BYTES_PER_PEELED);
    this.peeled.set(tag, target);
  }

  /**
   * Removes all objects, segments and marks that were added after `extent` (an earlier fill level) was read. Called
   * when the objects of a write are discarded.
   */
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
    // The arrays may have grown for the removed objects. They shrink to the capacity that they had before the write.
    // Arrays that are shared with a frozen table do not count in `#heldRoom` and stay unchanged.
    if (this.#heldRoom > room) this.#resize(room);
    while (this.segments.length > segments) this.dropLastSegment();
    this.loose[0]?.truncate(looseBytes);
  }

  /**
   * Publishes the objects from number `from` on, so that `find` finds them by id. `added` is a hash table that contains
   * only these objects.
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

  /**
   * Link records (decoded commits and trees) to which the current writer adds. The added records become readable when
   * the new objects are published, and are removed when the objects are discarded.
   */
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
   * Returns the `LinkRecords` (decoded commits and trees) that contain the record of an object. Returns undefined if
   * the object has no record, if the records were evicted from the cache, or if the record still contains temporary
   * indexes.
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

  /**
   * Returns an immutable view, as `ObjectTable.freeze` does. The memory up to `extent` then counts as shared by this
   * table and the view, instead of as memory of this table.
   */
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
   * Releases all memory that this table counts in the budget. Called when the repository is deleted. If a writer is
   * still running, its later allocations are counted again and released by a second call when it ends.
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
