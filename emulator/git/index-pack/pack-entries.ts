import { grownLength, resized, withRoom } from '../../memory/growable.js';
import { lastUpTo } from '../../memory/sorted.js';
import { PIECE, PIECE_COST, type Steps } from '../../schedule/steps.js';
import { OidSet } from '../object/oid-slots.js';

/** Sentinel for "no entry", "no object" and "delta not kept in memory". */
export const NONE = -1;

/**
 * Entries of a pack that is being received. It is a struct of arrays with one element per entry, and an entry is given
 * by its index. It contains the position of each entry, the number of its object in the store, and the deltas that
 * depend on it.
 */
export class PackEntries {
  count = 0;
  /** Number of entries that the header of the pack states. */
  announced = 0;
  /** Offset in the pack at which each entry starts. The offsets are in ascending order. */
  offsets = new Uint32Array(64);
  /**
   * Offset in the pack at which the compressed data (zlib stream) of each entry starts. This is after the entry header.
   */
  dataStarts = new Uint32Array(64);
  /** Inflated size in bytes of each entry's content: an object body or a delta. */
  sizes = new Uint32Array(64);
  /**
   * Number of each entry's object in the store. `NONE` until the object is stored, for example before its delta is
   * resolved.
   */
  numbers = new Int32Array(64);
  /**
   * Linked lists of the deltas on each entry. `firstDeltas` has the first delta on each entry. `nextDeltas` has, for
   * each delta, the next delta on its base. `NONE` ends a list.
   */
  firstDeltas = new Int32Array(64);
  nextDeltas = new Int32Array(64);
  /**
   * Base of each `OFS_DELTA` (delta that identifies its base by distance), as the index of an entry. `NONE` for other
   * entries.
   */
  bases = new Int32Array(64);
  /**
   * Number of entries that depend on each entry through `OFS_DELTA`s, directly or indirectly, including the entry
   * itself. `weigh` computes it.
   */
  weights = new Int32Array(64);
  /**
   * Offset of each delta in `keptDeltas`, the memory for small deltas that were already inflated. `NONE` if the delta
   * was not kept.
   */
  kept = new Int32Array(64);
  /** Number of deltas in the pack whose objects are not built yet. */
  unresolved = 0;

  /** Ids of the bases of all `REF_DELTA`s (deltas that identify their base by id). */
  readonly refDeltaBases = new OidSet();
  /** First delta on each base in `refDeltaBases`, by index of the base. `NONE` once `takeRefDeltas` has returned it. */
  #firstRefDelta = new Int32Array(16);

  add(offset: number): number {
    if (this.count === this.offsets.length) this.#grow();
    const entry = this.count++;
    this.offsets[entry] = offset;
    this.numbers[entry] = NONE;
    this.firstDeltas[entry] = NONE;
    this.nextDeltas[entry] = NONE;
    this.bases[entry] = NONE;
    this.weights[entry] = 1;
    this.kept[entry] = NONE;
    return entry;
  }

  /** Records that entry `entry` is a delta on entry `base` (`OFS_DELTA`). */
  addOfsDelta(entry: number, base: number): void {
    this.bases[entry] = base;
    this.nextDeltas[entry] = this.firstDeltas[base]!;
    this.firstDeltas[base] = entry;
    this.unresolved++;
  }

  /**
   * Records that `entry` is a delta on an object given by id (`REF_DELTA`). Its 20-byte id is in `bytes` at position
   * `at`.
   */
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

  /**
   * Returns the first delta on a base that is identified by id; `NONE` if there is none. `base` is its index in
   * `refDeltaBases`. A second call for a base returns `NONE`, so that no delta is resolved twice.
   */
  takeRefDeltas(base: number): number {
    const first = this.#firstRefDelta[base]!;
    this.#firstRefDelta[base] = NONE;
    return first;
  }

  /** Returns the index of the entry that starts at `offset` in the pack; `NONE` if no entry starts there. */
  startingAt(offset: number): number {
    const entry = lastUpTo(this.offsets, offset, this.count);
    return this.offsets[entry] === offset ? entry : NONE;
  }

  /** Returns the offset in the pack at which an entry ends. `packEnd` is the end of the last entry. */
  endOf(entry: number, packEnd: number): number {
    return entry + 1 < this.count ? this.offsets[entry + 1]! : packEnd;
  }

  /**
   * Computes `weights`. One pass from the last entry to the first is enough, because the base of an `OFS_DELTA` always
   * precedes the delta.
   */
  *weigh(): Steps<void> {
    for (let entry = this.count - 1; entry >= 0; entry--) {
      const base = this.bases[entry]!;
      if (base !== NONE) this.weights[base]! += this.weights[entry]!;
      if (entry % PIECE === 0) yield PIECE_COST;
    }
  }

  #grow(): void {
    const room = grownLength(this.count, this.announced);
    this.offsets = resized(this.offsets, room);
    this.dataStarts = resized(this.dataStarts, room);
    this.sizes = resized(this.sizes, room);
    this.numbers = resized(this.numbers, room);
    this.firstDeltas = resized(this.firstDeltas, room);
    this.nextDeltas = resized(this.nextDeltas, room);
    this.bases = resized(this.bases, room);
    this.weights = resized(this.weights, room);
    this.kept = resized(this.kept, room);
  }
}
