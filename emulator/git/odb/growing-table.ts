import { grownLength } from '../../memory/growable.js';
import type { MemoryBudget } from '../../memory/memory-budget.js';
import { permute } from '../../memory/permute.js';
import { PIECE, PIECE_COST, type Steps } from '../../schedule/steps.js';
import type { TypeCode } from '../object/object.js';
import { OID_BYTES, type OidSlots } from '../object/oid-slots.js';
import { Segment } from '../pack/segment.js';
import { LinkRecords, NO_RECORD } from './link-records.js';
import { BYTES_PER_OBJECT, COLUMNS, type Extent, ObjectTable, UNDELTIFIED } from './object-table.js';
import type { TableCaches } from './table-caches.js';

/**
 * Approximate memory in bytes of one entry of the map `peeled`. The map leads from an annotated tag to the object at
 * the end of its chain of tags.
 */
const BYTES_PER_PEELED = 40;
/**
 * Maximum number of deltas that must be applied to read an object. In longer delta chains, every 256th body is pinned,
 * which means kept inflated in memory.
 */
const LONGEST_CHAIN = 256;

/** Location of the stored bytes of one object, and its delta base. */
export interface EntryLocation {
  /**
   * Number of the segment that contains the bytes. A segment is memory for one received pack or for loose objects. The
   * number is negative for a segment of loose objects.
   */
  readonly segment: number;
  /**
   * Offset in the segment of the first byte of the object. In a pack, the entry header starts there; for a loose
   * object, the body.
   */
  readonly offset: number;
  readonly end: number;
  /** Object number of the delta base, or `UNDELTIFIED` if the object is not stored as a delta. */
  readonly base: number;
  /**
   * True if the pack entry is a `REF_DELTA`, which names its delta base by id. The other kind of delta names its base
   * by the distance in the pack.
   */
  readonly isRefDelta: boolean;
}

/**
 * Object table of a store that can grow.
 *
 * `freeze` returns an immutable view of the published objects; a fork of the store starts with this view. The table and
 * its views share the memory of these objects. The memory counts in the memory budget until the last of them releases
 * it.
 */
export class GrowingTable extends ObjectTable {
  /**
   * Capacity of the arrays, in objects, whose memory this table counts in `budget`. It is 0 if the arrays are shared
   * with another table.
   */
  #heldRoom = 0;
  /**
   * Number of bytes that this table counts in `budget` for segments, pinned bodies and peeled tags. The arrays are not
   * included.
   */
  #held = 0;
  /**
   * Number of objects that this table itself will probably contain after the current write; 0 if unknown. The arrays
   * then grow in fewer, larger steps.
   */
  expected = 0;
  /**
   * `#links` contains the link records (decoded commits and trees) to which the current writer adds; undefined if there
   * is no writer. `#linksBefore` is their length before the writer began.
   */
  #links: LinkRecords | undefined;
  #linksBefore = 0;
  /** Number of loose objects that are not published yet. */
  #newLoose = 0;

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

  /** Current fill level of the table. A writer stores it, so that `truncate` can undo the write. */
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
   * Counts `bytes` of newly allocated memory in the budget. A negative number releases memory. Throws `StoreFull` if
   * the limit is exceeded.
   */
  take(bytes: number): void {
    if (bytes > 0) this.budget.take(bytes);
    // This table can give back at most the bytes that it still counts itself. `freeze` moves counted bytes to
    // `sharedBytes`, because other tables may still use that memory.
    const counted = Math.max(bytes, -this.#held);
    if (counted < 0) this.budget.give(-counted);
    this.#held += counted;
  }

  /** Adds an empty segment, which is memory for the bytes of one received pack. Returns the segment and its number. */
  addSegment(): { segment: Segment; index: number } {
    const segment = new Segment((bytes) => this.take(bytes));
    const index = this.segmentCount;
    this.segments.push(segment);
    return { segment, index };
  }

  /**
   * Removes the newest segment that belongs to a pack, and releases its memory. The table must not contain an object of
   * this segment.
   */
  dropLastSegment(): void {
    this.segments.pop()!.truncate(0);
  }

  /** Segment to which loose objects (uncompressed single objects) are currently written. It is created on first use. */
  get looseSegment(): Segment {
    if (this.loose.length === 0) this.loose.push(new Segment((bytes) => this.take(bytes)));
    return this.loose[0]!;
  }

  /** Segment number of `looseSegment`, which is negative for loose objects. */
  get looseIndex(): number {
    return ~this.firstLoose;
  }

  /**
   * Adds an object and returns its object number. Its 20-byte id is at the start of `oid`. If `wantsPin` returns true
   * for the number, the caller must call `pin` with the object's body before it adds the next object.
   */
  add(type: TypeCode, size: number, entry: EntryLocation, oid: Uint8Array): number {
    const at = this.ownCount;
    if (at === this.types.length) this.#resize(Math.max(16, grownLength(at, this.expected)));
    const start = at * OID_BYTES;
    for (let byte = 0; byte < OID_BYTES; byte++) this.oids[start + byte] = oid[byte]!;
    this.types[at] = type;
    this.sizes[at] = size;
    this.segmentOf[at] = entry.segment;
    if (entry.segment < 0) this.#newLoose++;
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
   * Returns true if the body of the object must be pinned, which means kept inflated in memory. This is so for a delta
   * at the end of a chain of `LONGEST_CHAIN` deltas.
   */
  wantsPin(number: number): boolean {
    return this.baseOf(number) !== UNDELTIFIED && this.depthOf(number) === 0;
  }

  /**
   * Keeps the inflated body of an object in memory as long as the object exists. Reading an object with a long delta
   * chain can then start at this body.
   */
  pin(number: number, body: Buffer): void {
    this.take(body.length);
    this.pinned.set(number, body);
  }

  /**
   * Renumbers the objects from `first` on. `order` lists their current numbers in the new order. References to delta
   * bases, caches and pinned bodies are renumbered too. Returns the new numbers: index 0 is the new number of the
   * object `first`.
   *
   * No object number may be used until the generator ends.
   */
  *reorder(first: number, order: Int32Array): Steps<Int32Array> {
    const moved = new Int32Array(order.length);
    for (let index = 0; index < order.length; index++) {
      moved[order[index]! - first] = first + index;
      if (index % PIECE === 0) yield PIECE_COST;
    }
    const own = first - this.firstNumber;
    const scratch = new ArrayBuffer(order.length * OID_BYTES);
    for (const [name, width] of COLUMNS) yield* permute(this[name], width, own, order, this.firstNumber, scratch);
    for (let at = own; at < this.ownCount; at++) {
      const base = this.bases[at]!;
      if (base >= first) this.bases[at] = moved[base - first]!;
      if (at % PIECE === 0) yield PIECE_COST;
    }
    this.caches.renumber(first, moved);
    const pinned = [...this.pinned].filter(([number]) => number >= first);
    for (const [number] of pinned) this.pinned.delete(number);
    for (const [number, body] of pinned) this.pinned.set(moved[number - first]!, body);
    return moved;
  }

  /**
   * Marks an object as complete (everything reachable from it is present). The mark is valid only for tables that
   * contain at least `since` objects, so it does not affect forks with fewer objects.
   */
  setComplete(number: number, since: number): void {
    if (this.isComplete(number)) return;
    if (number < this.firstNumber) this.completeBelow.set(number, since);
    else this.completeSince[number - this.firstNumber] = since;
  }

  /**
   * Marks an object as referenced by another object. The mark is valid only for tables that contain at least `since`
   * objects, so it does not affect forks with fewer objects.
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
   * Undoes a write: removes all objects, segments and marks that were added since the fill level `extent`. Called when
   * the objects of a write are discarded.
   */
  truncate({ count, segments, looseBytes, room }: Extent): void {
    this.caches.forgetQuarantine();
    this.#links?.truncate(this.#linksBefore);
    this.#links = undefined;
    this.#newLoose = 0;
    this.expected = 0;
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
    // The arrays shrink to the capacity that they had before the write. Arrays that are shared with a frozen table do
    // not count in `#heldRoom` and stay unchanged.
    if (this.#heldRoom > room) this.#resize(room);
    while (this.segments.length > segments) this.dropLastSegment();
    this.loose[0]?.truncate(looseBytes);
  }

  /**
   * Publishes the objects from number `from` on, so that `find` finds them by id. `added` is a hash table of exactly
   * these objects.
   */
  publish(from: number, added: OidSlots): void {
    const own = from - this.firstNumber;
    if (own === 0) this.slots = added;
    else {
      this.slots = this.slots.withRoom(this.oids, this.count - from);
      for (let at = own; at < this.ownCount; at++) this.slots.insert(this.oids, at);
    }
    this.looseCount += this.#newLoose;
    this.#newLoose = 0;
    this.expected = 0;
    this.caches.publish(this.count);
    this.#keepLinks(own);
  }

  /**
   * Link records (decoded commits and trees) to which the current writer adds. The added records become readable when
   * the new objects are published. They are removed if the new objects are discarded.
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
   * the object has no record, if its record still contains temporary indexes, or if the cache has evicted the records.
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
   * Returns an immutable view, as `ObjectTable.freeze` does. The memory up to `extent` is then counted as shared by
   * this table and the view, no longer as memory of this table alone.
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
   * Releases all memory that this table counts in the budget. Called when the repository is deleted. A writer that is
   * still running may allocate more memory; a second call when it ends releases that memory.
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
