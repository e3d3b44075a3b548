import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import type { StoreLimits } from '../limits/store-limits.js';
import { BLOB, TREE, type TypeCode, typeName } from '../object/object.js';
import { HEADROOM } from '../object/object-hash.js';
import { OID_BYTES } from '../object/oid-slots.js';
import type { EntryLocation } from '../odb/growing-table.js';
import { type CheckObject, copySteps, LARGE, type ObjectWriter } from '../odb/object-writer.js';
import { TreeLayout } from '../odb/tree-layout.js';
import { type Inflater, inflateSteps } from '../pack/inflater.js';
import { PackError } from '../pack/pack-error.js';
import { DeltaError, DeltaHeader, deltaSteps } from '../pack/patch-delta.js';
import type { Segment } from '../pack/segment.js';
import { NONE, type PackEntries } from './pack-entries.js';

/**
 * Size in bytes up to which the arena (memory for inflated objects) grows by doubling. Beyond it, the arena grows only
 * as much as needed.
 */
const GENEROUS = 32 * 1024 * 1024;

/** Received pack in which all entries have been found, but deltas are not resolved yet. */
export interface ScannedPack {
  readonly entries: PackEntries;
  readonly segment: Segment;
  /** Index of `segment` in the object store. */
  readonly segmentIndex: number;
  readonly end: number;
  /**
   * Total inflated size in bytes of all entries. The number of bytes that deltas may write is limited to a multiple of
   * it.
   */
  readonly inflated: number;
  /**
   * Small deltas that were inflated during the scan of the pack. They are kept, so that they need not be inflated
   * again. The bytes of each delta are contiguous.
   */
  readonly keptDeltas: Segment;
}

/**
 * Stack frame for one delta base. The frames form the chain of bases of the delta that is being resolved. The lowest
 * frame is an object that is already stored.
 */
interface Frame {
  readonly number: number;
  readonly size: number;
  /**
   * Offset of the base's body (content) in the arena, which is the memory for inflated objects. `NONE` if the body was
   * evicted or not read yet.
   */
  bodyAt: number;
  /**
   * Bounds of the free memory in the arena. The bytes from `low` to the body of this base are free, and the bytes from
   * `top` on.
   */
  low: number;
  top: number;
  /**
   * Deltas on this base, as indexes of entries; `NONE` if none. `next` is resolved next. `heaviest` has the most
   * entries that depend on it, and is resolved last.
   */
  next: number;
  heaviest: number;
  /**
   * Decoded entries of the base if it is a tree. They allow a tree that is a delta on the base to be recorded without
   * parsing it. Undefined if the base is not a tree or its entries are not known.
   */
  layout: TreeLayout | undefined;
}

/**
 * Builds and stores the objects for the deltas of a received pack, each base before its deltas. It uses an explicit
 * stack, because a delta chain may be as long as the pack.
 *
 * Of the deltas on a base, the one on which the most entries depend is resolved last and takes over the memory of the
 * base. At most log2(number of entries) bases are therefore in memory at once.
 */
export class DeltaResolver {
  /** Numbers of objects that the pack uses as delta bases but does not contain. They were in the store before. */
  readonly thinBases = new Set<number>();
  #arena: Buffer = Buffer.allocUnsafeSlow(64 * 1024);
  readonly #frames: Frame[] = [];
  /** Layouts (decoded trees) that no frame uses at present. Reusing them avoids allocations. */
  readonly #layouts: TreeLayout[] = [];
  readonly #header = new DeltaHeader();
  readonly #oid = Buffer.alloc(OID_BYTES);
  readonly #mostWork: number;
  /**
   * Number of bytes that deltas have written so far. A limit is necessary, because a small pack can describe huge
   * objects.
   */
  #work = 0;

  constructor(
    private readonly pack: ScannedPack,
    private readonly writer: ObjectWriter,
    private readonly inflater: Inflater,
    private readonly limits: StoreLimits,
    private readonly check: CheckObject | undefined,
  ) {
    this.#mostWork = Math.max(limits.freeDeltaWork, pack.inflated * limits.deltaWork);
  }

  /**
   * Builds and stores the objects of all deltas whose base is available. If `thin` is true, older objects in the store
   * can also be bases.
   */
  *resolve(thin: boolean): Steps<void> {
    const { entries } = this.pack;
    yield* entries.weigh();
    for (let entry = 0; entry < entries.count && entries.unresolved > 0; entry++) {
      const number = entries.numbers[entry]!;
      if (number !== NONE) yield* this.#resolveOn(number, this.#takeDeltas(entry, number));
    }
    if (!thin) return;
    const { refDeltaBases } = entries;
    for (let index = 0; index < refDeltaBases.size && entries.unresolved > 0; index++) {
      const number = this.writer.find(refDeltaBases.oids, refDeltaBases.startOf(index));
      const deltas = number === NONE ? NONE : entries.takeRefDeltas(index);
      if (deltas === NONE) continue;
      this.thinBases.add(number);
      yield* this.#resolveOn(number, deltas);
    }
  }

  /**
   * Returns the first delta on an entry; the others follow in a linked list. The list contains both the deltas that
   * identify the entry by distance and those that do so by id. Returns `NONE` if there are none. `number` is the object
   * number of the entry.
   *
   * A second call for an entry returns `NONE`, so that no delta is resolved twice.
   */
  #takeDeltas(entry: number, number: number): number {
    const { entries } = this.pack;
    const byDistance = entries.firstDeltas[entry]!;
    entries.firstDeltas[entry] = NONE;
    if (entries.refDeltaBases.size === 0) return byDistance;
    const { objects } = this.writer;
    objects.copyOid(number, this.#oid, 0);
    const index = entries.refDeltaBases.find(this.#oid, 0);
    const byId = index === NONE ? NONE : entries.takeRefDeltas(index);
    if (byId === NONE) return byDistance;
    let last = byId;
    while (entries.nextDeltas[last] !== NONE) last = entries.nextDeltas[last]!;
    entries.nextDeltas[last] = byDistance;
    return byId;
  }

  *#resolveOn(number: number, deltas: number): Steps<void> {
    if (deltas === NONE) return;
    const frames = this.#frames;
    this.#push(number, this.writer.objects.sizeOf(number), NONE, 0, 0, deltas, this.#layoutOf(number));
    for (let units = 0; frames.length > 0; units++) {
      if ((units & 7) === 0) yield COST.operation;
      const frame = frames.at(-1)!;
      const { entries } = this.pack;
      let entry = frame.next;
      if (entry === frame.heaviest && entry !== NONE) entry = entries.nextDeltas[entry]!;
      if (entry !== NONE) {
        frame.next = entries.nextDeltas[entry]!;
        yield* this.#resolveDelta(frame, entry, false);
      } else {
        frames.pop();
        yield* this.#resolveDelta(frame, frame.heaviest, true);
        if (frame.layout !== undefined) this.#layouts.push(frame.layout);
      }
    }
  }

  /**
   * Returns the decoded entries of the base object `number`. With them, deltas on it can be recorded without parsing
   * them. Returns undefined if the object is not a tree or its entries are not known.
   */
  #layoutOf(number: number): TreeLayout | undefined {
    if (this.writer.objects.typeOf(number) !== TREE) return undefined;
    const layout = this.#layouts.pop() ?? new TreeLayout();
    if (this.writer.layOut(number, layout)) return layout;
    this.#layouts.push(layout);
    return undefined;
  }

  #push(
    number: number,
    size: number,
    bodyAt: number,
    low: number,
    top: number,
    deltas: number,
    layout: TreeLayout | undefined,
  ): void {
    const { nextDeltas, weights } = this.pack.entries;
    let heaviest = deltas;
    for (let entry = deltas; entry !== NONE; entry = nextDeltas[entry]!) {
      if (weights[entry]! > weights[heaviest]!) heaviest = entry;
    }
    this.#frames.push({ number, size, bodyAt, low, top, next: deltas, heaviest, layout });
  }

  /**
   * Applies the delta in the entry `entry` to `base` and stores the resulting object. If `isLast` is true, no other
   * delta needs the base afterwards, so its memory may be reused.
   */
  *#resolveDelta(base: Frame, entry: number, isLast: boolean): Steps<void> {
    const { entries, segment, end, keptDeltas } = this.pack;
    const deltaSize = entries.sizes[entry]!;
    const kept = entries.kept[entry]!;
    if (kept === NONE) {
      yield* inflateSteps(this.inflater, segment, entries.dataStarts[entry]!, entries.endOf(entry, end), deltaSize);
    }
    const { slab: delta, start: deltaAt } =
      kept === NONE ? { slab: this.inflater.output, start: HEADROOM } : keptDeltas.pieceAt(kept, kept);
    const limit = deltaAt + deltaSize;
    const size = this.#readHeader(base, entry, delta, deltaAt);
    const start = this.#header.end;
    this.#addWork(size);
    const resultAt = (yield* this.#place(base, HEADROOM + size)) + HEADROOM;
    const arena = this.#arena;
    const { bodyAt: baseAt, size: baseSize } = base;
    const work = { delta, start, limit, base: arena, baseAt, baseSize, result: arena, resultAt, resultSize: size };
    try {
      yield* deltaSteps(work);
    } catch (error) {
      throw this.#locateError(entry, error);
    }
    const { objects } = this.writer;
    objects.schedule.spend(COST.object + Math.min(deltaSize, LARGE) * COST.byteInflated);
    const type = this.#typeOf(base);
    const change = base.layout && { base: base.layout, delta, start, limit };
    const needsLayout = type === TREE && size < LARGE && this.#mayHaveDeltas(entry);
    const layout = needsLayout ? (this.#layouts.pop() ?? new TreeLayout()) : undefined;
    if (layout !== undefined) layout.length = NONE;
    const location = this.#locationOf(base, entry);
    const number = yield* this.writer.store(type, arena, resultAt, size, location, this.check, change, layout);
    this.#noteStored(base, entry, number, resultAt, size, isLast, layout);
  }

  #typeOf(base: Frame): TypeCode {
    return this.writer.objects.typeOf(base.number);
  }

  /**
   * Reads the sizes of base and result at the start of a delta. Returns the size of the result in bytes. Throws
   * `PackError` if the size of the base is wrong or the result exceeds a limit.
   */
  #readHeader(base: Frame, entry: number, buffer: Buffer, at: number): number {
    const header = this.#header;
    try {
      header.parse(buffer, at, at + this.pack.entries.sizes[entry]!);
    } catch (error) {
      throw this.#locateError(entry, error);
    }
    if (header.baseSize !== base.size) throw this.#locateError(entry, new DeltaError());
    const { objectBytes, structureBytes } = this.limits;
    const size = header.resultSize;
    if (size > objectBytes) throw PackError.tooLarge('object', size, objectBytes);
    const type = this.#typeOf(base);
    if (type !== BLOB && size > structureBytes) throw PackError.tooLarge(typeName(type), size, structureBytes);
    return size;
  }

  #locationOf(base: Frame, entry: number): EntryLocation {
    const { entries, segmentIndex, end } = this.pack;
    return {
      segment: segmentIndex,
      offset: entries.offsets[entry]!,
      end: entries.endOf(entry, end),
      base: base.number,
      isRefDelta: entries.bases[entry] === NONE,
    };
  }

  #mayHaveDeltas(entry: number): boolean {
    const { firstDeltas, refDeltaBases } = this.pack.entries;
    return firstDeltas[entry] !== NONE || refDeltaBases.size > 0;
  }

  #noteStored(
    base: Frame,
    entry: number,
    number: number,
    bodyAt: number,
    size: number,
    isLast: boolean,
    layout?: TreeLayout,
  ): void {
    const { entries } = this.pack;
    entries.numbers[entry] = number;
    entries.unresolved--;
    const deltas = this.#takeDeltas(entry, number);
    const isLaidOut = layout !== undefined && layout.length !== NONE;
    if (layout !== undefined && (deltas === NONE || !isLaidOut)) this.#layouts.push(layout);
    if (deltas === NONE) return;
    // The new object becomes a base on the stack. If its own base is still needed, the free memory starts after both
    // bodies. Otherwise it starts where the free memory before that base started.
    const top = isLast ? bodyAt + size : Math.max(base.top, bodyAt + size);
    const low = isLast ? base.low : Math.max(base.top, bodyAt - HEADROOM);
    this.#push(number, size, bodyAt, low, top, deltas, isLaidOut ? layout : undefined);
  }

  /**
   * Returns the offset in the arena of `need` free bytes, before or after the body of `base`. The body of `base` is
   * read again if it was evicted. If the memory limit would be exceeded, the bodies of all other bases are evicted.
   */
  *#place(base: Frame, need: number): Steps<number> {
    if (base.bodyAt === NONE) yield* this.#load(base);
    if (base.bodyAt - base.low >= need) return base.low;
    if (base.top + need > this.limits.workBytes) {
      this.#dropOthers(base);
      const body = this.#arena.subarray(base.bodyAt, base.bodyAt + base.size);
      if (base.bodyAt > HEADROOM) yield* copySteps(body, this.#arena, HEADROOM);
      this.#moveToStart(base);
    }
    yield* this.#grow(base.top, base.top + need);
    return base.top;
  }

  /**
   * Grows the arena (memory for inflated objects) to at least `length` bytes. Only the first `used` bytes are copied;
   * the rest is free.
   */
  *#grow(used: number, length: number): Steps<void> {
    if (length <= this.#arena.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(length, Math.min(this.#arena.length * 2, GENEROUS)));
    yield* copySteps(this.#arena.subarray(0, used), larger, 0);
    this.#arena = larger;
  }

  /**
   * Reads the body of a base from the store into the arena. This is necessary for the first base of a stack, and for a
   * base whose body was evicted. The body is placed at the start, because no other body in the arena is needed any
   * more.
   */
  *#load(base: Frame): Steps<void> {
    const { objects } = this.writer;
    this.#addWork(base.size * objects.depthOf(base.number));
    yield* this.#grow(0, HEADROOM + base.size);
    if (base.size < LARGE) objects.peek(base.number, (body) => body.copy(this.#arena, HEADROOM));
    else yield* copySteps(yield* objects.readSteps(base.number), this.#arena, HEADROOM);
    this.#moveToStart(base);
  }

  /** Evicts the bodies of all bases except `base` from the arena. They are read from the store again when needed. */
  #dropOthers(base: Frame): void {
    for (const frame of this.#frames) {
      if (frame !== base) frame.bodyAt = NONE;
    }
  }

  /** Records that the body of `base` is at the start of the arena, with free memory after it. */
  #moveToStart(base: Frame): void {
    base.low = 0;
    base.bodyAt = HEADROOM;
    base.top = HEADROOM + base.size;
  }

  #addWork(bytes: number): void {
    this.#work += bytes;
    if (this.#work > this.#mostWork) {
      throw new PackError('limit', `deltas write more than the limit of ${this.#mostWork} bytes`);
    }
  }

  #locateError(entry: number, error: unknown): unknown {
    return error instanceof DeltaError ? PackError.at(this.pack.entries.offsets[entry]!, error.message) : error;
  }
}
