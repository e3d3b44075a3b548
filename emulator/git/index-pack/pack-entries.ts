import { withRoom } from '../../memory/growable.js';
import { lastUpTo } from '../../memory/sorted.js';
import { OidSet } from '../object/oid-slots.js';

/** Sentinel: no entry, no object, or no kept delta. */
export const NONE = -1;

/**
 * Entries of a pack that is being received, as a struct of arrays: the position of each entry, its object, and the
 * deltas that depend on it.
 */
export class PackEntries {
  count = 0;
  /** Offset in the pack at which each entry starts; ascending. */
  offsets = new Uint32Array(64);
  /** Offset at which its zlib stream starts. */
  dataStarts = new Uint32Array(64);
  /** Inflated size in bytes, of the body or of the delta. */
  sizes = new Uint32Array(64);
  /** Object number in the store, or `NONE` while unknown. */
  numbers = new Int32Array(64);
  /** Linked list of the deltas on an entry: the first delta of each base, and the next delta after each delta. */
  firstDeltas = new Int32Array(64);
  nextDeltas = new Int32Array(64);
  /** Base entry of a delta by distance, or `NONE`. */
  bases = new Int32Array(64);
  /** Number of entries that depend on this one by distances, including itself. */
  weights = new Int32Array(64);
  /** Offset of the inflated delta in `keptDeltas`, or `NONE`. */
  kept = new Int32Array(64);
  /** Number of deltas that are not resolved yet. */
  unresolved = 0;

  /** Ids of the bases of REF_DELTA entries. */
  readonly refDeltaBases = new OidSet();
  /** For each of `refDeltaBases`, the first delta on it; `NONE` after `takeRefDeltas` returned it. */
  #firstRefDelta = new Int32Array(16);

  add(offset: number): number {
    const entry = this.count++;
    if (entry === this.offsets.length) this.#grow();
    this.offsets[entry] = offset;
    this.numbers[entry] = NONE;
    this.firstDeltas[entry] = NONE;
    this.nextDeltas[entry] = NONE;
    this.bases[entry] = NONE;
    this.weights[entry] = 1;
    this.kept[entry] = NONE;
    return entry;
  }

  /** Adds a delta on the entry `base`. */
  addOfsDelta(entry: number, base: number): void {
    this.bases[entry] = base;
    this.nextDeltas[entry] = this.firstDeltas[base]!;
    this.firstDeltas[base] = entry;
    this.unresolved++;
  }

  /** Adds a delta on the object whose id is at `at`. */
  addRefDelta(entry: number, bytes: Uint8Array, at: number): void {
    const known = this.refDeltaBases.size;
    const base = this.refDeltaBases.add(bytes, at);
    if (base === known) {
      this.#firstRefDelta = withRoom(this.#firstRefDelta, base + 1);
      this.#firstRefDelta[base] = NONE;
    }
    this.nextDeltas[entry] = this.#firstRefDelta[base]!;
    this.#firstRefDelta[base] = entry;
    this.unresolved++;
  }

  /** Returns the first delta on a base given by id, or `NONE`. Each list is returned once. */
  takeRefDeltas(base: number): number {
    const first = this.#firstRefDelta[base]!;
    this.#firstRefDelta[base] = NONE;
    return first;
  }

  /** Returns the entry that starts at `offset`, or `NONE`. */
  startingAt(offset: number): number {
    const entry = lastUpTo(this.offsets, offset, this.count);
    return this.offsets[entry] === offset ? entry : NONE;
  }

  /** Returns the offset at which an entry ends. `packEnd`: end of the last entry. */
  endOf(entry: number, packEnd: number): number {
    return entry + 1 < this.count ? this.offsets[entry + 1]! : packEnd;
  }

  /** Computes `weights`. One pass from the end suffices, because a base by distance always precedes its deltas. */
  weigh(): void {
    for (let entry = this.count - 1; entry >= 0; entry--) {
      const base = this.bases[entry]!;
      if (base !== NONE) this.weights[base]! += this.weights[entry]!;
    }
  }

  #grow(): void {
    const room = this.offsets.length * 2;
    this.offsets = withRoom(this.offsets, room);
    this.dataStarts = withRoom(this.dataStarts, room);
    this.sizes = withRoom(this.sizes, room);
    this.numbers = withRoom(this.numbers, room);
    this.firstDeltas = withRoom(this.firstDeltas, room);
    this.nextDeltas = withRoom(this.nextDeltas, room);
    this.bases = withRoom(this.bases, room);
    this.weights = withRoom(this.weights, room);
    this.kept = withRoom(this.kept, room);
  }
}
