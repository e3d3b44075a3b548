import { COST } from '../../schedule/cost.js';
import type { Meter } from '../../schedule/meter.js';
import { inSlices } from '../../schedule/steps.js';
import { UNDELTIFIED } from '../odb/object-table.js';
import type { RepackCache } from '../odb/repack-cache.js';
import type { StoredObjects } from '../odb/stored-objects.js';
import { deflate, deflateInPieces, LARGE } from '../pack/deflater.js';
import { diffDelta } from '../pack/diff-delta.js';
import { ABSENT, type Positions } from './positions.js';

/** A delta that was made for one pack. */
export interface NewDelta {
  readonly base: number;
  /** Bytes the delta inflates to. */
  readonly size: number;
  readonly stream: Buffer;
}

/** Returns the object that was at the path of an object before; `UNDELTIFIED` if none. */
export type PreviousVersions = (object: number) => number;

/** What the choice of deltas may use. */
export interface DeltaSources {
  /** Whether the client has an object that is not in the pack. */
  readonly isHeld: (number: number) => boolean;
  readonly previous: () => PreviousVersions;
}

/** A body beyond this is not searched. */
const LARGEST = 4 * 1024 * 1024;
/** A body below this gains nothing. */
const SMALLEST = 50;
/** In larger packs only objects that lost their base get a new one: the rest is as good as its sender made it. */
const MOST_WITH_UNDELTIFIED = 20_000;
/** Bytes of bodies compared for one pack. */
const MOST_WORK = 256 * 1024 * 1024;
/** Ancestors looked at in search of a relative. */
const MOST_GENERATIONS = 64;
/** Earlier versions looked at in search of a base that may be used. */
const MOST_STEPS = 4096;

/**
 * Chooses which objects of a pack get a delta they are not stored with: those whose base is not sent,
 * and, in packs of moderate size, whole ones whose former version the client has or gets.
 */
export class DeltaChoice {
  readonly #deltas = new Map<number, NewDelta>();
  /** By base that is not sent: the first object that lost it, a likely base for the others. */
  readonly #heirs = new Map<number, number>();
  #previous: PreviousVersions | undefined;
  #work = 0;

  constructor(
    private readonly objects: StoredObjects,
    private readonly positions: Positions,
    private readonly sources: DeltaSources,
    private readonly cache: RepackCache,
  ) {}

  /** The new delta of an object, if one was chosen. */
  of(number: number): NewDelta | undefined {
    return this.#deltas.get(number);
  }

  /** The base an object of the pack will be sent with, or `UNDELTIFIED`. */
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
    const withUndeltified = numbers.length <= MOST_WITH_UNDELTIFIED;
    for (let index = 0; index < numbers.length; index++) {
      if ((index & 63) === 63 && meter.isOver) await meter.pass();
      const number = numbers[index]!;
      const base = objects.baseOf(number);
      const isLost = base !== UNDELTIFIED && !this.isSendable(base);
      if ((!isLost && !(withUndeltified && base === UNDELTIFIED)) || !this.#isWorthwhile(number)) continue;
      await this.#chooseFor(number, meter);
      if (isLost) this.#inherit(number);
    }
  }

  /** Makes an object the heir of every ancestor that is not sent and has none yet. */
  #inherit(number: number): void {
    const { objects } = this;
    let ancestor = objects.baseOf(number);
    for (let steps = 0; ancestor !== UNDELTIFIED && steps < MOST_GENERATIONS && !this.#heirs.has(ancestor); steps++) {
      this.#heirs.set(ancestor, number);
      ancestor = objects.baseOf(ancestor);
    }
  }

  #isWorthwhile(number: number): boolean {
    const size = this.objects.sizeOf(number);
    return size >= SMALLEST && size <= LARGEST && this.#work < MOST_WORK;
  }

  async #chooseFor(number: number, meter: Meter): Promise<void> {
    for (const base of this.#candidates(number)) {
      const delta = await this.#tryDelta(number, base, meter);
      if (delta === undefined) continue;
      this.#deltas.set(number, delta);
      return;
    }
  }

  /** At most one candidate of each kind, best first. */
  *#candidates(number: number): Generator<number> {
    const { objects } = this;
    const lost = objects.baseOf(number);
    yield* this.#firstUsable(number, (version) => this.#previousOf(version));
    if (lost === UNDELTIFIED) return;
    yield* this.#firstUsable(number, (version) => objects.baseOf(version));
    let ancestor = lost;
    for (let steps = 0; ancestor !== UNDELTIFIED && steps < MOST_GENERATIONS; steps++) {
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
    for (let steps = 0; version !== UNDELTIFIED && version !== number && steps < MOST_STEPS; steps++) {
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

  /** Whether a delta on `base` closes no circle. */
  #isUsable(number: number, base: number): boolean {
    if (this.objects.typeOf(base) !== this.objects.typeOf(number) || !this.#isWorthwhile(base)) return false;
    let at = base;
    for (let steps = 0; at !== UNDELTIFIED && steps < MOST_STEPS; steps++) {
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

  /** By comparing what both inflate to. */
  async #findDifference(number: number, base: number, meter: Meter): Promise<Buffer | undefined> {
    const { objects } = this;
    const body = await inSlices(objects.readSteps(number), meter);
    const source = await inSlices(objects.readSteps(base), meter);
    this.#work += body.length + source.length;
    return inSlices(diffDelta(source, body, this.#mostDelta(number)), meter);
  }

  async #record(delta: Buffer, meter: Meter): Promise<Buffer> {
    const size = Buffer.alloc(SIZE_BYTES);
    size.writeUInt32BE(delta.length);
    if (delta.length >= LARGE) return Buffer.concat([size, ...(await deflateInPieces(delta, meter))]);
    meter.spend(delta.length * COST.byteDeflated);
    return Buffer.concat([size, deflate(delta)]);
  }

  /** A delta longer than this is not better than the body deflated. */
  #mostDelta(number: number): number {
    const { objects } = this;
    const size = objects.sizeOf(number);
    if (!objects.isUndeltifiedEntry(number)) return Math.floor(size / 2);
    const stored = objects.endOf(number) - objects.offsetOf(number);
    return Math.floor(Math.min(size / 2, stored * 2));
  }
}

/** In the cache a delta is its size in 4 bytes, then its stream. */
const SIZE_BYTES = 4;
const NOT_WORTH_IT = Buffer.alloc(0);

function readDelta(record: Buffer, base: number): NewDelta | undefined {
  if (record.length === 0) return undefined;
  return { base, size: record.readUInt32BE(0), stream: record.subarray(SIZE_BYTES) };
}
