import { COST } from '../../schedule/cost.js';
import { Meter } from '../../schedule/meter.js';
import { PIECE, PIECE_COST, runYielding, type Steps } from '../../schedule/steps.js';
import { OID_BYTES } from '../object/oid-slots.js';
import type { ObjectStore } from '../odb/object-store.js';
import { UNDELTIFIED } from '../odb/object-table.js';
import type { RepackCache } from '../odb/repack-cache.js';
import type { StoredObjects } from '../odb/stored-objects.js';
import { deflate, deflateInPieces, LARGE } from '../pack/deflater.js';
import { OFS_DELTA, REF_DELTA, writeDistance, writeTypeAndSize } from '../pack/entry-header.js';
import { DeltaChoice, type DeltaSources, type PreviousVersions } from './delta-choice.js';
import { PackOutput } from './pack-output.js';
import { ABSENT, PENDING, Positions } from './positions.js';

export interface PackOptions {
  /**
   * True if the reader of the pack supports `OFS_DELTA` entries (`ofs-delta`). Such a delta identifies its base by its
   * distance in the pack. The default is true.
   */
  readonly ofsDelta?: boolean;
  /**
   * Returns true if the reader of the pack already has the object `number`. Such an object can be a delta base without
   * being in the pack (thin pack). If this function is absent, all delta bases are in the pack.
   */
  readonly thin?: (number: number) => boolean;
  /**
   * Returns a function that maps an object to its previous version: the object at its path in an earlier commit. This
   * is the preferred delta base. Called only when needed, because it may be expensive.
   */
  readonly previous?: () => PreviousVersions;
  /**
   * Called for each entry before its first byte is yielded, with the offset of the entry in the pack and the object
   * number.
   */
  readonly onEntry?: (start: number, number: number) => void;
  readonly signal?: AbortSignal;
}

const NOTHING: PreviousVersions = () => UNDELTIFIED;

/**
 * Writes a pack of published objects, each once. `numbers` are their numbers in the store. The entries are in ascending
 * order of these numbers, except that delta bases precede their deltas.
 *
 * Stored entries are copied unchanged, and adjacent ones in one piece. If only the distance to the delta base has
 * changed, only the entry header is rewritten. A delta whose base neither the pack nor the client has is replaced by
 * another delta or by the whole object.
 *
 * The consumer of the generator determines the pace (back-pressure). Objects may be added to the store in the meantime.
 */
export async function* writePack(
  store: ObjectStore,
  numbers: Int32Array | readonly number[],
  options: PackOptions = {},
): AsyncGenerator<Buffer> {
  const meter = new Meter({ schedule: store.schedule, signal: options.signal });
  meter.check();
  const sorted = await runYielding(sortedOnce(numbers), meter);
  const positions = new Positions(sorted, options.onEntry);
  const sources: DeltaSources = {
    isHeld: options.thin,
    previous: options.previous ?? (() => NOTHING),
  };
  const deltas = new DeltaChoice(store.stored, positions, sources, store.repackCache);
  meter.spend(sorted.length * COST.operation);
  if (meter.shouldYield) await meter.yieldToEventLoop();
  await deltas.choose(sorted, meter);
  const output = new PackOutput(store.stored, sorted.length);
  const writer = new EntryWriter(store.stored, output, positions, deltas, store.repackCache, options.ofsDelta ?? true);
  for (let index = 0; index < sorted.length; ) {
    const next = writer.writeStored(sorted, index);
    if (next === index) {
      for (const number of basesFirst(sorted[index]!, deltas, positions)) {
        const pending = writer.write(number, meter);
        if (pending !== undefined) await pending;
      }
    }
    index = Math.max(next, index + 1);
    if (output.isFull) {
      for (const piece of output.take()) {
        meter.spend(piece.length * COST.byteHashed);
        yield piece;
        if (meter.shouldYield) await meter.yieldToEventLoop();
      }
      meter.check();
    }
    if (meter.shouldYield) await meter.yieldToEventLoop();
  }
  for (const piece of output.end()) {
    meter.spend(piece.length * COST.byteHashed);
    yield piece;
    if (meter.shouldYield) await meter.yieldToEventLoop();
  }
}

/**
 * Returns the objects to write next so that `number` gets written, each delta base before its delta. The list is empty
 * if `number` is already written. Git's own packs never refer to a later base, and some clients cannot find such a
 * base.
 */
function basesFirst(number: number, deltas: DeltaChoice, positions: Positions): number[] {
  const chain: number[] = [];
  for (let at = number; at !== UNDELTIFIED && positions.get(at) === PENDING; at = deltas.baseOf(at)) chain.push(at);
  return chain.reverse();
}

/**
 * Returns the numbers in ascending order without duplicates. If `numbers` already has this form, returns this array
 * itself.
 */
function* sortedOnce(numbers: Int32Array | readonly number[]): Steps<Int32Array> {
  const all = numbers instanceof Int32Array ? numbers : Int32Array.from(numbers);
  let isAscending = true;
  for (let index = 1; index < all.length && isAscending; index++) {
    isAscending = all[index - 1]! < all[index]!;
    if (index % PIECE === 0) yield PIECE_COST;
  }
  if (isAscending) return all;
  const sorted = all.slice().sort();
  let length = 0;
  for (const number of sorted) {
    if (length === 0 || sorted[length - 1] !== number) sorted[length++] = number;
  }
  return sorted.subarray(0, length);
}

/**
 * Writes pack entries in the cheapest form that the reader understands: as stored, with a new header, or recompressed.
 */
class EntryWriter {
  readonly #header = Buffer.alloc(64);

  constructor(
    private readonly objects: StoredObjects,
    private readonly output: PackOutput,
    private readonly positions: Positions,
    private readonly deltas: DeltaChoice,
    private readonly repackCache: RepackCache,
    private readonly ofsDelta: boolean,
  ) {}

  /**
   * Writes the objects of `sorted` from index `index` on, as long as their stored entries can be copied unchanged and
   * the output is not full. Returns the index of the first object that was not written.
   *
   * Most objects can be copied unchanged, so this loop determines how long a large pack takes.
   */
  writeStored(sorted: Int32Array, index: number): number {
    const { deltas, objects, output, positions } = this;
    let table = objects.tableOf(sorted[index]!);
    let end = 0;
    let at = index;
    for (; at < sorted.length && !output.isFull; at++) {
      const number = sorted[at]!;
      if (number >= end) {
        table = objects.tableOf(number);
        end = table === objects ? Number.POSITIVE_INFINITY : table.count;
      }
      const own = number - table.firstNumber;
      const segment = table.segmentOf[own]!;
      if (segment < 0 || positions.get(number) !== PENDING || deltas.of(number) !== undefined) break;
      const base = table.bases[own]!;
      if (base !== UNDELTIFIED && (positions.get(base) === PENDING || !this.#isSameDelta(number, base))) break;
      if (base !== UNDELTIFIED && !deltas.isSendable(base)) break;
      this.#begin(number);
      output.copyStored(segment, table.offsets[own]!, table.ends[own]!);
    }
    return at;
  }

  /**
   * Writes the entry of one object. Returns undefined if the entry is complete. If a large object must be compressed,
   * returns a promise that resolves when the entry is complete.
   */
  write(number: number, meter: Meter): Promise<void> | undefined {
    const { objects } = this;
    const delta = this.deltas.of(number);
    if (delta !== undefined) {
      this.#begin(number);
      this.output.copyHeader(this.#header, this.#writeDeltaHeader(delta.base, delta.size));
      this.output.copy(delta.stream);
      return undefined;
    }
    const base = objects.baseOf(number);
    if (objects.isLoose(number) || (base !== UNDELTIFIED && !this.deltas.isSendable(base))) {
      return this.#writeUndeltified(number, meter);
    }
    this.#begin(number);
    if (base === UNDELTIFIED || this.#isSameDelta(number, base)) {
      this.output.copyStored(objects.segmentOfObject(number), objects.offsetOf(number), objects.endOf(number));
    } else {
      const dataStart = objects.locate(number);
      this.output.copyHeader(this.#header, this.#writeDeltaHeader(base, objects.header.size));
      this.output.copyStored(objects.segmentOfObject(number), dataStart, objects.endOf(number));
    }
    return undefined;
  }

  /** Records that the entry of `number` starts at the next byte of the pack. */
  #begin(number: number): void {
    this.positions.set(number, this.output.position);
  }

  /**
   * Returns true if the stored delta of `number` can be sent with its stored entry header. If the pack does not contain
   * `base`, the header must identify it by id. Otherwise the header must identify `base` by distance, and this distance
   * must be unchanged in the new pack.
   */
  #isSameDelta(number: number, base: number): boolean {
    const { objects } = this;
    const at = this.positions.get(base);
    const isRefDelta = objects.isRefDelta(number);
    if (!this.ofsDelta || at === ABSENT) return isRefDelta;
    const isSameSegment = objects.segmentOfObject(base) === objects.segmentOfObject(number);
    return (
      !isRefDelta && isSameSegment && this.output.position - at === objects.offsetOf(number) - objects.offsetOf(base)
    );
  }

  /**
   * Writes the entry header of a delta into `#header` and returns its length in bytes. `base` is the number of the
   * delta base, `size` the inflated size of the delta.
   *
   * The header identifies the base by distance if the pack contains the base and the reader supports this. Otherwise it
   * identifies the base by id.
   */
  #writeDeltaHeader(base: number, size: number): number {
    const header = this.#header;
    const at = this.positions.get(base);
    if (this.ofsDelta && at !== ABSENT) {
      const end = writeTypeAndSize(header, 0, OFS_DELTA, size);
      return writeDistance(header, end, this.output.position - at);
    }
    const end = writeTypeAndSize(header, 0, REF_DELTA, size);
    this.objects.copyOid(base, header, end);
    return end + OID_BYTES;
  }

  #writeUndeltified(number: number, meter: Meter): Promise<void> | undefined {
    const { objects } = this;
    const known = this.repackCache.get(number, UNDELTIFIED);
    if (known === undefined && objects.sizeOf(number) >= LARGE) return this.#writeLarge(number, meter);
    this.#finishUndeltified(number, [known ?? deflate(objects.read(number))]);
    if (known === undefined) meter.spend(objects.sizeOf(number) * COST.byteDeflated);
    return undefined;
  }

  async #writeLarge(number: number, meter: Meter): Promise<void> {
    const body = await runYielding(this.objects.readSteps(number), meter);
    this.#finishUndeltified(number, await deflateInPieces(body, meter));
  }

  #finishUndeltified(number: number, stream: readonly Buffer[]): void {
    const { objects } = this;
    if (stream.length === 1) this.repackCache.set(number, UNDELTIFIED, stream[0]!);
    this.#begin(number);
    const end = writeTypeAndSize(this.#header, 0, objects.typeOf(number) as 1 | 2 | 3 | 4, objects.sizeOf(number));
    this.output.copyHeader(this.#header, end);
    for (const piece of stream) this.output.copy(piece);
  }
}
