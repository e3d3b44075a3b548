import { COST } from '../../schedule/cost.js';
import type { Meter } from '../../schedule/meter.js';
import { runYielding } from '../../schedule/steps.js';
import { UNDELTIFIED } from '../odb/object-table.js';
import type { RepackCache } from '../odb/repack-cache.js';
import type { StoredObjects } from '../odb/stored-objects.js';
import { deflate, deflateInPieces, LARGE } from '../pack/deflater.js';
import { diffDelta } from '../pack/diff-delta.js';
import { ABSENT, type Positions } from './positions.js';

/**
 * Delta that is computed while a pack is written for a client, because no suitable delta is stored. `base` is the
 * object number of the delta base. `stream` is the compressed delta.
 */
export interface NewDelta {
  readonly base: number;
  /** Inflated size of the delta in bytes. */
  readonly size: number;
  readonly stream: Buffer;
}

/**
 * Function that returns the number of an object's previous version: the object that was at its path in an earlier
 * commit. Returns `UNDELTIFIED` if there is no previous version or it is unknown.
 */
export type PreviousVersions = (object: number) => number;

/** Sources of delta bases that are not in the pack itself. */
export interface DeltaSources {
  /**
   * Returns true if the client already has the object with this number. The object can then be a delta base although
   * the pack does not contain it. Undefined if all delta bases must be in the pack.
   */
  readonly isHeld: ((number: number) => boolean) | undefined;
  readonly previous: () => PreviousVersions;
}

/** Maximum size in bytes of an object for which a new delta is computed. Larger objects would take too long. */
const LARGEST = 4 * 1024 * 1024;
/** Minimum size in bytes of an object for which a new delta is computed. A delta saves nothing for a smaller object. */
const SMALLEST = 50;
/**
 * Maximum number of objects in a pack for which new deltas of objects stored whole are tried. In a larger pack, only
 * objects whose stored delta cannot be sent get a new delta. The client that pushed the other objects has already
 * searched for deltas.
 */
const MAX_WITH_UNDELTIFIED = 20_000;
/**
 * Minimum number of objects that a new pack takes from one received pack, so that the received pack counts as large.
 * Objects that a large pack stores whole are not compared with each other, because its sender has already searched for
 * deltas between them.
 *
 * Git has the same rule: it unpacks a push of fewer than 100 objects (`receive.unpackLimit`), and does not compare two
 * objects of one pack (`try_delta` in `builtin/pack-objects.c`). Measured with 1,000 commits: without this rule, the
 * first clone took 6 times as long.
 */
const MIN_OF_LARGE_PACK = 100;
/** Total size in bytes of compared objects after which no more deltas are computed for one pack. */
const MAX_WORK = 256 * 1024 * 1024;
/**
 * Maximum number of stored delta bases that are followed from an object (its base, the base of its base, and so on) to
 * find or record an heir.
 */
const MAX_GENERATIONS = 64;
/** Maximum number of steps to earlier versions or delta bases while a possible delta base is checked. */
const MAX_STEPS = 4096;

/**
 * Computes new deltas for some objects of a pack that is sent to a client. Most objects are sent as they are stored. An
 * object gets a new delta if neither the pack nor the client has the base of its stored delta.
 *
 * In a pack of at most `MAX_WITH_UNDELTIFIED` objects, an object that is stored whole also gets a delta, if the client
 * has or receives an earlier version of it. Objects of one large received pack are not compared with each other.
 */
export class DeltaChoice {
  readonly #deltas = new Map<number, NewDelta>();
  /**
   * Replacement ("heir") for each stored delta base that is not sent. It is the first object of the pack whose stored
   * delta needed this base. Other objects that needed the base are probably similar to the heir, so they can be sent as
   * deltas on it.
   */
  readonly #heirs = new Map<number, number>();
  /** Numbers of the segments that contain the large received packs (see `MIN_OF_LARGE_PACK`). */
  #largePacks: ReadonlySet<number> = new Set();
  #previous: PreviousVersions | undefined;
  #work = 0;

  constructor(
    private readonly objects: StoredObjects,
    private readonly positions: Positions,
    private readonly sources: DeltaSources,
    private readonly cache: RepackCache,
  ) {}

  /** Returns the new delta of an object; undefined if the object gets no new delta. */
  of(number: number): NewDelta | undefined {
    return this.#deltas.get(number);
  }

  /**
   * Returns the number of the delta base with which an object of the pack is sent; `UNDELTIFIED` if it is sent whole.
   */
  baseOf(number: number): number {
    const chosen = this.#deltas.get(number);
    if (chosen !== undefined) return chosen.base;
    const stored = this.objects.baseOf(number);
    return stored !== UNDELTIFIED && this.isSendable(stored) ? stored : UNDELTIFIED;
  }

  isSendable(base: number): boolean {
    return this.positions.get(base) !== ABSENT || this.#isHeld(base);
  }

  async choose(numbers: Int32Array, meter: Meter): Promise<void> {
    const { objects, sources } = this;
    const withUndeltified = numbers.length <= MAX_WITH_UNDELTIFIED;
    if (withUndeltified) this.#largePacks = largePacksOf(objects, numbers);
    for (let index = 0; index < numbers.length; index++) {
      if ((index & 63) === 63 && meter.shouldYield) await meter.yieldToEventLoop();
      const number = numbers[index]!;
      const base = objects.baseOf(number);
      const isLost = base !== UNDELTIFIED && !this.isSendable(base);
      const mayHaveBase = sources.isHeld !== undefined || !this.#isFromLargePack(number);
      const isTried = withUndeltified && base === UNDELTIFIED && mayHaveBase;
      if (!(isLost || isTried) || !this.#isWorthwhile(number)) continue;
      await this.#chooseFor(number, meter);
      if (isLost) this.#inherit(number);
    }
  }

  /**
   * Records the object `number`, whose stored delta cannot be sent, as the heir (replacement) of its stored delta
   * bases: its base, the base of its base, and so on. Stops at a base that already has an heir. Other objects that
   * needed one of these bases can then be sent as deltas on `number`.
   */
  #inherit(number: number): void {
    const { objects } = this;
    let ancestor = objects.baseOf(number);
    for (let steps = 0; ancestor !== UNDELTIFIED && steps < MAX_GENERATIONS && !this.#heirs.has(ancestor); steps++) {
      this.#heirs.set(ancestor, number);
      ancestor = objects.baseOf(ancestor);
    }
  }

  #isWorthwhile(number: number): boolean {
    const size = this.objects.sizeOf(number);
    return size >= SMALLEST && size <= LARGEST && this.#work < MAX_WORK;
  }

  async #chooseFor(number: number, meter: Meter): Promise<void> {
    for (const base of this.#candidates(number)) {
      const delta = await this.#tryDelta(number, base, meter);
      if (delta === undefined) continue;
      this.#deltas.set(number, delta);
      return;
    }
  }

  /**
   * Yields objects to try as the delta base of `number`, best first. The first is an earlier version at its path. If
   * the stored delta of `number` cannot be sent, the nearest usable stored base and an heir of a stored base follow.
   * There is at most one object of each kind.
   */
  *#candidates(number: number): Generator<number> {
    const { objects } = this;
    const lost = objects.baseOf(number);
    for (const version of this.#firstUsable(number, (version) => this.#previousOf(version))) {
      if (lost !== UNDELTIFIED || this.#isHeld(version) || !this.#isOfSameLargePack(number, version)) yield version;
    }
    if (lost === UNDELTIFIED) return;
    yield* this.#firstUsable(number, (version) => objects.baseOf(version));
    let ancestor = lost;
    for (let steps = 0; ancestor !== UNDELTIFIED && steps < MAX_GENERATIONS; steps++) {
      const heir = this.#heirs.get(ancestor);
      if (heir !== undefined && this.#isUsable(number, heir)) {
        yield heir;
        return;
      }
      ancestor = objects.baseOf(ancestor);
    }
  }

  *#firstUsable(number: number, next: (version: number) => number): Generator<number> {
    let version = next(number);
    for (let steps = 0; version !== UNDELTIFIED && version !== number && steps < MAX_STEPS; steps++) {
      if (this.isSendable(version) && this.#isUsable(number, version)) {
        yield version;
        return;
      }
      version = next(version);
    }
  }

  #isHeld(number: number): boolean {
    return this.sources.isHeld?.(number) ?? false;
  }

  #isFromLargePack(number: number): boolean {
    return this.#largePacks.has(this.objects.segmentOfObject(number));
  }

  #isOfSameLargePack(number: number, other: number): boolean {
    const { objects } = this;
    return this.#isFromLargePack(number) && objects.segmentOfObject(other) === objects.segmentOfObject(number);
  }

  #previousOf(number: number): number {
    this.#previous ??= this.sources.previous();
    return this.#previous(number);
  }

  /**
   * Returns true if `number` can be sent as a delta on `base`. Both must have the same type, and `base` must have a
   * suitable size. `base` must not itself depend on `number` through deltas, because the client could not resolve such
   * a cycle.
   */
  #isUsable(number: number, base: number): boolean {
    if (this.objects.typeOf(base) !== this.objects.typeOf(number) || !this.#isWorthwhile(base)) return false;
    let at = base;
    for (let steps = 0; at !== UNDELTIFIED && steps < MAX_STEPS; steps++) {
      if (at === number) return false;
      if (this.positions.get(at) === ABSENT) return true;
      at = this.baseOf(at);
    }
    return at === UNDELTIFIED;
  }

  async #tryDelta(number: number, base: number, meter: Meter): Promise<NewDelta | undefined> {
    const known = this.cache.get(number, base);
    if (known !== undefined) return readDelta(known, base);
    const delta = await this.#findDifference(number, base, meter);
    const record = delta === undefined ? NOT_WORTH_IT : await this.#record(delta, meter);
    this.cache.set(number, base, record);
    return readDelta(record, base);
  }

  /**
   * Computes a delta from the uncompressed bodies of two objects. Returns undefined if the delta would exceed the
   * length from `#mostDelta`.
   */
  async #findDifference(number: number, base: number, meter: Meter): Promise<Buffer | undefined> {
    const { objects } = this;
    const body = await runYielding(objects.readSteps(number), meter);
    const source = await runYielding(objects.readSteps(base), meter);
    this.#work += body.length + source.length;
    return runYielding(diffDelta(source, body, this.#mostDelta(number)), meter);
  }

  async #record(delta: Buffer, meter: Meter): Promise<Buffer> {
    const size = Buffer.alloc(SIZE_BYTES);
    size.writeUInt32BE(delta.length);
    if (delta.length >= LARGE) return Buffer.concat([size, ...(await deflateInPieces(delta, meter))]);
    meter.spend(delta.length * COST.byteDeflated);
    return Buffer.concat([size, deflate(delta)]);
  }

  /**
   * Returns the maximum useful size of a delta in bytes. A longer delta saves too little compared with the compressed
   * whole object.
   */
  #mostDelta(number: number): number {
    const { objects } = this;
    const size = objects.sizeOf(number);
    if (!objects.isUndeltifiedEntry(number)) return Math.floor(size / 2);
    const stored = objects.endOf(number) - objects.offsetOf(number);
    return Math.floor(Math.min(size / 2, stored * 2));
  }
}

/**
 * Returns the numbers of the segments that contain at least `MIN_OF_LARGE_PACK` of the objects. A segment is the memory
 * of one received pack.
 */
function largePacksOf(objects: StoredObjects, numbers: Int32Array): ReadonlySet<number> {
  const counts = new Map<number, number>();
  for (const number of numbers) {
    const segment = objects.segmentOfObject(number);
    // Skips loose objects, which have negative segment numbers. They do not come from a received pack.
    if (segment >= 0) counts.set(segment, (counts.get(segment) ?? 0) + 1);
  }
  return new Set([...counts].filter(([, count]) => count >= MIN_OF_LARGE_PACK).map(([segment]) => segment));
}

/**
 * Length in bytes of the number at the start of a cached delta. The number is the inflated size; the compressed delta
 * follows it.
 */
const SIZE_BYTES = 4;
const NOT_WORTH_IT = Buffer.alloc(0);

function readDelta(record: Buffer, base: number): NewDelta | undefined {
  if (record.length === 0) return undefined;
  return { base, size: record.readUInt32BE(0), stream: record.subarray(SIZE_BYTES) };
}
