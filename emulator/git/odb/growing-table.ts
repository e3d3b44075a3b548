import type { MemoryBudget } from '../../memory/memory-budget.js';
import { permute } from '../../memory/permute.js';
import type { Meter } from '../../schedule/meter.js';
import type { TypeCode } from '../object/object.js';
import { OID_BYTES, type OidSlots } from '../object/oid-slots.js';
import { Segment } from '../pack/segment.js';
import { LinkRecords, NO_RECORD } from './link-records.js';
import { BYTES_PER_OBJECT, COLUMNS, type Extent, ObjectTable, UNDELTIFIED } from './object-table.js';
import type { TableCaches } from './table-caches.js';

/** About what an entry of a map takes. */
const BYTES_PER_PEELED = 40;
/** Deltas from one inflated body to the next at most. Every longer chain has bodies pinned along it. */
const LONGEST_CHAIN = 256;

/** Where the bytes of an object lie. */
export interface EntryLocation {
  /** As in `ObjectTable.segmentOf`. */
  readonly segment: number;
  /** Of the entry's header in a pack segment, of the body in a loose segment. */
  readonly offset: number;
  readonly end: number;
  /** The number of the delta's base, or `UNDELTIFIED`. */
  readonly base: number;
  /** Whether the entry is a `REF_DELTA`, which names its base by id and not by distance. */
  readonly isRefDelta: boolean;
}

/**
 * A table that objects are added to. `freeze` gives others what is published of it; from then on they share the memory
 * of that, and it is the budget's until the last of them has let go of it.
 */
export class GrowingTable extends ObjectTable {
  /** Objects that the arrays have room for, as far as that counts in `budget`. */
  #heldRoom = 0;
  /** Bytes beside the arrays that count in `budget`. */
  #held = 0;
  /** The records that are added to, and how many integers they had before. */
  #links: LinkRecords | undefined;
  #linksBefore = 0;

  constructor(
    caches: TableCaches,
    readonly budget: MemoryBudget,
    below?: ObjectTable,
  ) {
    super(caches, below);
  }

  override get heldBytes(): number {
    return super.heldBytes + this.budget.used;
  }

  /** How far it is filled now. */
  get extent(): Extent {
    return {
      count: this.count,
      segments: this.segments.length,
      looseBytes: this.loose[0]?.length ?? 0,
      held: this.#held,
      room: this.types.length,
    };
  }

  /** Counts bytes as held here (or, negative, as given back). Throws `StoreFull`. */
  take(bytes: number): void {
    if (bytes > 0) this.budget.take(bytes);
    // What others have in common with it is not given back by it.
    const counted = Math.max(bytes, -this.#held);
    if (counted < 0) this.budget.give(-counted);
    this.#held += counted;
  }

  /** A new empty segment for a pack, and its number. */
  addSegment(): { segment: Segment; index: number } {
    const segment = new Segment((bytes) => this.take(bytes));
    const index = this.segmentCount;
    this.segments.push(segment);
    return { segment, index };
  }

  /** Forgets the newest segment, of which no object is left. */
  dropLastSegment(): void {
    this.segments.pop()!.truncate(0);
  }

  /** The segment of loose objects that are written now. */
  get looseSegment(): Segment {
    if (this.loose.length === 0) this.loose.push(new Segment((bytes) => this.take(bytes)));
    return this.loose[0]!;
  }

  /** Its number. */
  get looseIndex(): number {
    return ~this.firstLoose;
  }

  /**
   * Adds an object under the id at the start of `oid`; returns its number. A caller that adds an object that
   * `wantsPin` has to pin it before the next is added.
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

  /** Whether the object ends a chain so long that its body has to stay at hand. */
  wantsPin(number: number): boolean {
    return this.baseOf(number) !== UNDELTIFIED && this.depthOf(number) === 0;
  }

  /** Keeps the body at hand for as long as the object is there. */
  pin(number: number, body: Buffer): void {
    this.take(body.length);
    this.pinned.set(number, body);
  }

  /**
   * Moves every object from `first` on: `order` lists them as they shall be. Numbers within change with it; while it
   * runs, they mean nothing.
   */
  async reorder(first: number, order: Int32Array, meter: Meter): Promise<Int32Array> {
    const moved = new Int32Array(order.length);
    for (let index = 0; index < order.length; index++) moved[order[index]! - first] = first + index;
    const own = first - this.first;
    const from = this.first === 0 ? order : order.map((number) => number - this.first);
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

  /** Notes that everything reachable from the object is here once there are `since` objects. */
  setComplete(number: number, since: number): void {
    if (this.isComplete(number)) return;
    if (number < this.first) this.completeBelow.set(number, since);
    else this.completeSince[number - this.first] = since;
  }

  /** Notes that another object points at this one once there are `since` objects. */
  setReferenced(number: number, since: number): void {
    if (this.isReferenced(number)) return;
    if (number < this.first) this.referencedBelow.set(number, since);
    else this.referencedSince[number - this.first] = since;
  }

  /** Notes where a tag of a tag leads in the end. */
  setPeeled(tag: number, target: number): void {
    this.take(BYTES_PER_PEELED);
    this.peeled.set(tag, target);
  }

  /** Forgets everything behind `extent`. */
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
    const own = count - this.first;
    this.oids.fill(0, own * OID_BYTES, this.ownCount * OID_BYTES);
    this.count = count;
    // What was refused leaves no room behind; what a snapshot has in common with it stays as it is.
    if (this.#heldRoom > room) this.#resize(room);
    while (this.segments.length > segments) this.dropLastSegment();
    this.loose[0]?.truncate(looseBytes);
  }

  /** Makes the objects from `from` on final, and findable. `added`: the numbers of just these by id. */
  publish(from: number, added: OidSlots): void {
    const own = from - this.first;
    if (own === 0) this.slots = added;
    else {
      this.slots = this.slots.withRoom(this.oids, this.count - from);
      for (let at = own; at < this.ownCount; at++) this.slots.insert(this.oids, at);
    }
    for (let at = own; at < this.ownCount; at++) if (this.segmentOf[at]! < 0) this.looseCount++;
    this.caches.publish(this.count);
    this.#keepLinks(own);
  }

  /** The records that whoever writes adds to, until they are published or given up. */
  get newLinks(): LinkRecords {
    if (this.#links === undefined) {
      this.#links = this.caches.links ?? new LinkRecords(this.count, this.names);
      this.#linksBefore = this.#links.length;
    }
    return this.#links;
  }

  setLinks(number: number, place: number): void {
    this.linksAt[number - this.first] = place;
  }

  /** The records that the object's is in, where it has one that can be read. */
  linksOf(number: number): LinkRecords | undefined {
    const table = this.tableOf(number);
    const place = table.linksAt[number - table.first]!;
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

  /** See `ObjectTable.freeze`. From now on the bytes up to `extent` count as those of both. */
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

  /** Gives everything to the budget that counts there. What a writer under way takes counts until it is given back again. */
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
