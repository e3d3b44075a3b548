import { COST } from '../../schedule/cost.js';
import type { Meter } from '../../schedule/meter.js';
import { runYielding } from '../../schedule/steps.js';
import { UNDELTIFIED } from '../odb/object-table.js';
import type { RepackCache } from '../odb/repack-cache.js';
import type { StoredObjects } from '../odb/stored-objects.js';
import { deflate, deflateInPieces, LARGE } from '../pack/deflater.js';
import { diffDelta } from '../pack/diff-delta.js';
import { ABSENT, type Positions } from './positions.js';

/** A delta that was computed for one pack. */
export interface NewDelta {
  readonly base: number;
  /** Inflated size of the delta in bytes. */
  readonly size: number;
  readonly stream: Buffer;
}

/** Function that returns the object that was previously at the path of an object; `UNDELTIFIED` if none. */
export type PreviousVersions = (object: number) => number;

/** Bases that the choice of deltas may use. */
export interface DeltaSources {
  /** Returns true if the client already has an object that is not in the pack. */
  readonly isHeld: (number: number) => boolean;
  readonly previous: () => PreviousVersions;
}

/** Maximum size in bytes of a body for which a delta is computed. */
const LARGEST = 4 * 1024 * 1024;
/** Minimum size in bytes of a body for which a delta is computed. */
const SMALLEST = 50;
/**
 * Maximum number of objects in a pack in which whole objects may get a delta too. In larger packs, only objects without
 * their base get one, because their senders chose good deltas for the rest.
 */
const MAX_WITH_UNDELTIFIED = 20_000;
/** Maximum total bytes of bodies compared for one pack. */
const MAX_WORK = 256 * 1024 * 1024;
/** Maximum number of ancestors (former bases) that are checked for a related object. */
const MAX_GENERATIONS = 64;
/** Maximum number of earlier versions that are checked for a usable base. */
const MAX_STEPS = 4096;

/**
 * Chooses the objects of a pack that get another delta than the stored one: objects whose base is not sent and, in
 * packs of moderate size, whole objects whose previous version the client has or receives.
 */
export class DeltaChoice {
  readonly #deltas = new Map<number, NewDelta>();
  /**
   * For each base that is not sent, the first object whose stored delta needed it. This object ("heir") is a likely
   * base for the other objects that needed the same base.
   */
  readonly #heirs = new Map<number, number>();
  #previous: PreviousVersions | undefined;
  #work = 0;

  constructor(
    private readonly objects: StoredObjects,
    private readonly positions: Positions,
    private readonly sources: DeltaSources,
    private readonly cache: RepackCache,
  ) {}

  /** Returns the new delta of an object; undefined if none was chosen. */
  of(number: number): NewDelta | undefined {
    return this.#deltas.get(number);
  }

  /** Returns the base with which an object of the pack will be sent, or `UNDELTIFIED`. */
  baseOf(number: number): number {
    const chosen = this.#deltas.get(number);
    if (chosen !== undefined) return chosen.base;
    const stored = this.objects.baseOf(number);
    return stored !== UNDELTIFIED && this.isSendable(stored) ? stored : UNDELTIFIED;
  }

  isSendable(base: number): boolean {
    return this.positions.get(base) !== ABSENT || this.sources.isHeld(base);
  }

  async choose(numbers: Int32Array, meter: Meter): Promise<void> {
    const { objects } = this;
    const withUndeltified = numbers.length <= MAX_WITH_UNDELTIFIED;
    for (let index = 0; index < numbers.length; index++) {
      if ((index & 63) === 63 && meter.shouldYield) await meter.yieldToEventLoop();
      const number = numbers[index]!;
      const base = objects.baseOf(number);
      const isLost = base !== UNDELTIFIED && !this.isSendable(base);
      if ((!isLost && !(withUndeltified && base === UNDELTIFIED)) || !this.#isWorthwhile(number)) continue;
      await this.#chooseFor(number, meter);
      if (isLost) this.#inherit(number);
    }
  }

  /**
   * Records an object as the likely base ("heir") of other objects that lost their base: for each of its ancestors in
   * the stored delta chain that has no heir yet.
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

  /** Yields at most one candidate base of each kind, best first. */
  *#candidates(number: number): Generator<number> {
    const { objects } = this;
    const lost = objects.baseOf(number);
    yield* this.#firstUsable(number, (version) => this.#previousOf(version));
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

  #previousOf(number: number): number {
    this.#previous ??= this.sources.previous();
    return this.#previous(number);
  }

  /**
   * Returns true if a delta of `number` on `base` is allowed: they have the same type, a delta is worthwhile, and no
   * cycle results.
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

  /** Computes a delta from the two inflated bodies. */
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

  /** Returns the maximum useful size of a delta. A longer one is not better than the deflated body. */
  #mostDelta(number: number): number {
    const { objects } = this;
    const size = objects.sizeOf(number);
    if (!objects.isUndeltifiedEntry(number)) return Math.floor(size / 2);
    const stored = objects.endOf(number) - objects.offsetOf(number);
    return Math.floor(Math.min(size / 2, stored * 2));
  }
}

/** Format of a delta in the cache: its size in 4 bytes, followed by its stream. */
const SIZE_BYTES = 4;
const NOT_WORTH_IT = Buffer.alloc(0);

function readDelta(record: Buffer, base: number): NewDelta | undefined {
  if (record.length === 0) return undefined;
  return { base, size: record.readUInt32BE(0), stream: record.subarray(SIZE_BYTES) };
}
