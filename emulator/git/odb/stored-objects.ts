import { resized } from '../memory/growable.js';
import type { MemoryBudget } from '../memory/memory-budget.js';
import type { CacheGroup } from '../memory/memory-cache.js';
import { permute } from '../memory/permute.js';
import { type Oid, oidIn, type TypeCode } from '../object/object.js';
import { HEADROOM } from '../object/object-hash.js';
import { OID_BYTES } from '../object/oid-slots.js';
import { EntryHeader, LONGEST_HEADER } from '../pack/entry-header.js';
import { createInflater, type Inflater, inflateEntry, inflateSteps } from '../pack/inflater.js';
import { applyDelta, DeltaHeader, patchDelta } from '../pack/patch-delta.js';
import { Segment } from '../pack/segment.js';
import { COST } from '../schedule/cost.js';
import type { Meter } from '../schedule/meter.js';
import type { Schedule } from '../schedule/schedule.js';
import { inSlices, type Steps } from '../schedule/steps.js';
import { BodyCache } from './body-cache.js';
import type { Scratch } from './scratch.js';

/** The segment of loose objects: bodies that were written one by one, not deflated and without an entry header. */
export const LOOSE = 0;
/** In place of a base's number: the entry is no delta. */
export const UNDELTIFIED = -1;
/** About what an entry of a map takes. */
const BYTES_PER_PEELED = 40;
/** Deltas from one inflated body to the next at most. Every longer chain has bodies pinned along it. */
const LONGEST_CHAIN = 256;
/** A body this large is made in slices where its reader can wait. */
const LARGE = 256 * 1024;
/** Bytes of all arrays below. */
const BYTES_PER_OBJECT = OID_BYTES + 26;
/** Of a chain that is resolved, each body this many steps from the last is worth keeping. */
const KEPT_STEP = 8;

/** Where the bytes of an object lie. */
export interface EntryLocation {
  readonly segment: number;
  /** Of the entry's header in a pack segment, of the body in the loose segment. */
  readonly offset: number;
  readonly end: number;
  /** The number of the delta's base, or `UNDELTIFIED`. */
  readonly base: number;
  /** Whether the entry is a `REF_DELTA`, which names its base by id and not by distance. */
  readonly isRefDelta: boolean;
}

/**
 * All objects by number, published or not: segments of bytes and, as typed arrays, what is known of
 * each object. Which of them a reader may see is decided by `ObjectStore` and `Quarantine`.
 */
export class StoredObjects {
  count = 0;
  oids = new Uint8Array(0);
  types = new Uint8Array(0);
  sizes = new Uint32Array(0);
  segmentOf = new Int32Array(0);
  offsets = new Uint32Array(0);
  ends = new Uint32Array(0);
  bases = new Int32Array(0);
  refDeltas = new Uint8Array(0);
  /** Deltas between the object and the nearest body that is whole or pinned. */
  #depths = new Uint16Array(0);
  /** 1: everything reachable from the object is here. */
  complete = new Uint8Array(0);
  /** 1: another object points at it. Where that was not found out, 0. */
  referenced = new Uint8Array(0);
  /** Where tags of tags lead in the end. */
  readonly peeled = new Map<number, number>();
  readonly segments: Segment[] = [];
  readonly #pinned = new Map<number, Buffer>();
  readonly #cache: BodyCache;
  readonly header = new EntryHeader();
  readonly #delta = new DeltaHeader();

  constructor(
    caches: CacheGroup,
    private readonly scratch: Scratch,
    readonly budget: MemoryBudget,
    readonly schedule: Schedule,
  ) {
    this.#cache = new BodyCache(caches);
    this.addSegment();
  }

  /** A new empty segment; its index is `segments.length - 1`. */
  addSegment(): Segment {
    const segment = new Segment((bytes) => this.hold(bytes));
    this.segments.push(segment);
    return segment;
  }

  get loose(): Segment {
    return this.segments[LOOSE]!;
  }

  /** Forgets the newest segment, of which no object is left. */
  dropLastSegment(): void {
    this.segments.pop()!.truncate(0);
  }

  /** Counts bytes as held (or, negative, as given back). Throws `StoreFull`. */
  hold(bytes: number): void {
    if (bytes > 0) this.budget.take(bytes);
    else this.budget.give(-bytes);
  }

  /**
   * Adds an object under the id at the start of `oid`; returns its number. A caller that adds an object that
   * `wantsPin` has to pin it before the next is added.
   */
  add(type: TypeCode, size: number, entry: EntryLocation, oid: Uint8Array): number {
    const number = this.count;
    if (number === this.types.length) this.#grow();
    const start = number * OID_BYTES;
    for (let byte = 0; byte < OID_BYTES; byte++) this.oids[start + byte] = oid[byte]!;
    this.types[number] = type;
    this.sizes[number] = size;
    this.segmentOf[number] = entry.segment;
    this.offsets[number] = entry.offset;
    this.ends[number] = entry.end;
    this.bases[number] = entry.base;
    this.refDeltas[number] = entry.isRefDelta ? 1 : 0;
    this.complete[number] = 0;
    this.referenced[number] = 0;
    const depth = entry.base === UNDELTIFIED ? 0 : this.#depths[entry.base]! + 1;
    this.#depths[number] = depth % LONGEST_CHAIN;
    this.count++;
    return number;
  }

  /** Whether the object ends a chain so long that its body has to stay at hand. */
  wantsPin(number: number): boolean {
    return this.bases[number] !== UNDELTIFIED && this.#depths[number] === 0;
  }

  /** Keeps the body at hand for as long as the object is there. */
  pin(number: number, body: Buffer): void {
    this.hold(body.length);
    this.#pinned.set(number, body);
  }

  /**
   * Moves every object from `first` on: `order` lists them as they shall be. Numbers within change with it; while it
   * runs, they mean nothing.
   */
  async reorder(first: number, order: Int32Array, meter: Meter): Promise<Int32Array> {
    const moved = new Int32Array(order.length);
    for (let index = 0; index < order.length; index++) moved[order[index]! - first] = first + index;
    await permute(this.oids, OID_BYTES, first, order, meter);
    for (const array of [this.types, this.sizes, this.segmentOf, this.offsets, this.ends])
      await permute(array, 1, first, order, meter);
    for (const array of [this.bases, this.refDeltas, this.#depths]) await permute(array, 1, first, order, meter);
    for (let number = first; number < this.count; number++) {
      const base = this.bases[number]!;
      if (base >= first) this.bases[number] = moved[base - first]!;
    }
    this.#cache.forgetQuarantine();
    const pinned = [...this.#pinned].filter(([number]) => number >= first);
    for (const [number] of pinned) this.#pinned.delete(number);
    for (const [number, body] of pinned) this.#pinned.set(moved[number - first]!, body);
    return moved;
  }

  /** Forgets every object from `count` on and every segment from `segments` on. */
  truncate(count: number, segments: number, looseBytes: number): void {
    this.#cache.forgetQuarantine();
    for (const [number, body] of this.#pinned) {
      if (number < count) continue;
      this.#pinned.delete(number);
      this.hold(-body.length);
    }
    for (const number of this.peeled.keys()) if (number >= count) this.setPeeled(number, undefined);
    this.oids.fill(0, count * OID_BYTES, this.count * OID_BYTES);
    this.count = count;
    // A large push that was refused leaves no large arrays behind.
    if (this.types.length > count * 4) this.#resize(count * 2);
    while (this.segments.length > segments) this.dropLastSegment();
    this.loose.truncate(looseBytes);
  }

  /** Notes where a tag of a tag leads in the end, or forgets it. */
  setPeeled(tag: number, target: number | undefined): void {
    if (target === undefined) {
      if (this.peeled.delete(tag)) this.hold(-BYTES_PER_PEELED);
      return;
    }
    this.hold(BYTES_PER_PEELED);
    this.peeled.set(tag, target);
  }

  /** Deltas to apply to have the object. */
  depthOf(number: number): number {
    return this.#depths[number]!;
  }

  /** Makes the numbers of all objects final. */
  publish(): void {
    this.#cache.publish(this.count);
  }

  /** Takes over the first `count` objects of `source`, whose bytes are shared, with what was `referenced` among them. */
  copy(source: StoredObjects, count: number, referenced: Uint8Array): void {
    let [written, segments] = [0, 1];
    for (let number = 0; number < count; number++) {
      segments = Math.max(segments, source.segmentOf[number]! + 1);
      if (source.segmentOf[number] === LOOSE) written = Math.max(written, source.ends[number]!);
    }
    this.segments.length = 0;
    for (const [index, segment] of source.segments.slice(0, segments).entries())
      this.segments.push(segment.copy(index === LOOSE ? written : segment.length, (bytes) => this.hold(bytes)));
    this.count = count;
    this.#resize(count, source);
    this.referenced.set(referenced);
    for (const [number, body] of source.#pinned) if (number < count) this.pin(number, body);
    for (const [tag, target] of source.peeled) if (tag < count) this.setPeeled(tag, target);
    this.publish();
  }

  copyOid(number: number, target: Uint8Array, at: number): void {
    for (let byte = 0; byte < OID_BYTES; byte++) target[at + byte] = this.oids[number * OID_BYTES + byte]!;
  }

  oidOf(number: number): Oid {
    const start = number * OID_BYTES;
    return oidIn(Buffer.from(this.oids.buffer, this.oids.byteOffset + start, OID_BYTES));
  }

  /** The inflated body of an object. Throws `RangeError` where there is none. */
  read(number: number): Buffer {
    this.schedule.spend(COST.object);
    const known = this.#known(number);
    if (known !== undefined) return known;
    const body = Buffer.from(this.#make(number));
    this.#cache.set(number, body);
    return body;
  }

  /** As `read`, of an object that is large or made of large ones, without holding up others for long. */
  async readInSlices(number: number, meter: Meter): Promise<Buffer> {
    const known = this.#known(number);
    if (known !== undefined) return known;
    const chain = this.#chainOf(number);
    if (!chain.some((at) => this.sizes[at]! >= LARGE)) return this.read(number);
    return inSlices(this.#makeSteps(chain), meter);
  }

  /** What `look` makes of the body. A body that is not at hand is made in the scratch memory, and not cached. */
  peek<T>(number: number, look: (body: Buffer) => T): T {
    this.schedule.spend(COST.object);
    return look(this.#known(number) ?? this.#make(number));
  }

  /** As `read`, into memory of the caller, which has to have room; nothing is cached. */
  copyBody(number: number, target: Buffer, at: number): void {
    if (!this.isUndeltifiedEntry(number)) {
      this.read(number).copy(target, at);
      return;
    }
    const { output, size } = this.#inflate(number);
    output.copy(target, at, HEADROOM, HEADROOM + size);
  }

  /** Whether the object is an entry of a pack and no delta. */
  isUndeltifiedEntry(number: number): boolean {
    return this.bases[number] === UNDELTIFIED && this.segmentOf[number] !== LOOSE;
  }

  /** The body of an object that need not be inflated; undefined if it does. */
  #known(number: number): Buffer | undefined {
    if (!(number >= 0 && number < this.count)) throw new RangeError(`there is no object ${number}`);
    if (this.segmentOf[number] === LOOSE) {
      return this.loose.bytes(this.offsets[number]!, this.ends[number]!);
    }
    return this.#cache.get(number) ?? this.#pinned.get(number);
  }

  /** The body of an entry of a pack, in memory of the inflater or of the arena. */
  #make(number: number): Buffer {
    if (this.bases[number] === UNDELTIFIED) {
      const { output, size } = this.#inflate(number);
      return output.subarray(HEADROOM, HEADROOM + size);
    }
    const chain = [number];
    let at = this.bases[number]!;
    let base = this.#known(at);
    for (; base === undefined && this.bases[at] !== UNDELTIFIED; base = this.#known(at)) {
      chain.push(at);
      at = this.bases[at]!;
    }
    return this.#applyChain(chain, base ?? this.read(at));
  }

  /** The object, what it is a delta on, and so on to the first body that is at hand or whole. */
  #chainOf(number: number): number[] {
    const chain = [number];
    for (let at = number; this.bases[at] !== UNDELTIFIED; ) {
      at = this.bases[at]!;
      chain.push(at);
      if (this.#known(at) !== undefined) break;
    }
    return chain;
  }

  /** The body of the first of `chain`, in memory of its own: while others are served, the tools are theirs. */
  *#makeSteps(chain: number[]): Steps<Buffer> {
    const inflater = createInflater();
    let body: Buffer | undefined;
    for (let step = chain.length - 1; step >= 0; step--) {
      const number = chain[step]!;
      const known = this.#known(number);
      if (known !== undefined) {
        body = known;
        continue;
      }
      const start = this.locate(number);
      const { size } = this.header;
      yield* inflateSteps(inflater, this.segments[this.segmentOf[number]!]!, start, this.ends[number]!, size);
      if (body === undefined) body = inflater.takeOutput();
      else body = yield* patchDelta(body, inflater.output.subarray(HEADROOM, HEADROOM + size));
      if (step % KEPT_STEP === 0) this.#cache.set(number, body);
    }
    return body!;
  }

  /** Applies the deltas of `chain`, last first. Even and odd results take turns in two halves of an arena. */
  #applyChain(chain: number[], root: Buffer): Buffer {
    let largest = root.length;
    for (const number of chain) largest = Math.max(largest, this.sizes[number]!);
    const arena = this.scratch.arena(largest * 2);
    root.copy(arena);
    let base = 0;
    let baseSize = root.length;
    for (let step = chain.length - 1; step >= 0; step--) {
      const number = chain[step]!;
      const { output, size } = this.#inflate(number);
      const delta = this.#delta;
      delta.parse(output, HEADROOM, HEADROOM + size);
      const result = base === 0 ? largest : 0;
      const resultSize = delta.resultSize;
      applyDelta(output, delta.end, HEADROOM + size, arena, base, baseSize, result, resultSize);
      base = result;
      baseSize = resultSize;
      if (step > 0 && step % KEPT_STEP === 0)
        this.#cache.set(number, Buffer.from(arena.subarray(base, base + baseSize)));
    }
    return arena.subarray(base, base + baseSize);
  }

  /** Inflates what an entry of a pack segment holds: a body, or a delta. */
  #inflate(number: number): Inflater {
    const start = this.locate(number);
    const segment = this.segments[this.segmentOf[number]!]!;
    this.schedule.spend(COST.object + this.header.size * COST.byteInflated);
    return inflateEntry(this.scratch.inflater, segment, start, this.ends[number]!, this.header.size);
  }

  /** Reads the header of an object in a pack segment into `header`; returns where its zlib stream starts. */
  locate(number: number): number {
    const segment = this.segments[this.segmentOf[number]!]!;
    const offset = this.offsets[number]!;
    const end = this.ends[number]!;
    const { slab, start, end: limit } = segment.pieceAt(offset, end);
    if (limit - start >= Math.min(LONGEST_HEADER, end - offset)) {
      this.header.parse(slab, start, limit);
      return offset + this.header.end - start;
    }
    const bytes = segment.bytes(offset, Math.min(end, offset + LONGEST_HEADER));
    this.header.parse(bytes, 0, bytes.length);
    return offset + this.header.end;
  }

  #grow(): void {
    this.#resize(Math.max(16, this.count * 2));
  }

  /** Gives the arrays room for so many objects; with `from`, they take over those that another store's arrays hold. */
  #resize(room: number, from: StoredObjects = this): void {
    this.hold((room - this.types.length) * BYTES_PER_OBJECT);
    this.oids = resized(from.oids, room * OID_BYTES);
    this.types = resized(from.types, room);
    this.sizes = resized(from.sizes, room);
    this.segmentOf = resized(from.segmentOf, room);
    this.offsets = resized(from.offsets, room);
    this.ends = resized(from.ends, room);
    this.bases = resized(from.bases, room);
    this.refDeltas = resized(from.refDeltas, room);
    this.#depths = resized(from.#depths, room);
    this.complete = resized(from.complete, room);
    this.referenced = resized(from.referenced, room);
  }
}
