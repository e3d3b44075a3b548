import { withRoom } from '../../memory/growable.js';
import { lastUpTo } from '../../memory/sorted.js';
import { OidSet } from '../object/oid-slots.js';

/** No entry, no object, nothing kept. */
export const NONE = -1;

/**
 * The entries of one pack while it is taken in, as typed arrays: where each lies, what object it turned
 * out to be, and the deltas that wait for it.
 */
export class PackEntries {
  count = 0;
  /** Where each entry starts in the pack; ascending. */
  offsets = new Uint32Array(64);
  /** Where its zlib stream starts. */
  dataStarts = new Uint32Array(64);
  /** Bytes it inflates to: of the body, or of the delta. */
  sizes = new Uint32Array(64);
  /** The object's number in the store, once known. */
  numbers = new Int32Array(64);
  /** The deltas on this entry are a list: its first, and of each the next. */
  firstDeltas = new Int32Array(64);
  nextDeltas = new Int32Array(64);
  /** The entry a delta names by distance, or `NONE`. */
  bases = new Int32Array(64);
  /** How many entries hang on this one by distances, itself included. */
  weights = new Int32Array(64);
  /** Where the inflated delta is kept, or `NONE`. */
  kept = new Int32Array(64);
  /** Deltas that are not objects yet. */
  unresolved = 0;

  /** Ids that deltas name as their base. */
  readonly refDeltaBases = new OidSet();
  /** The deltas on each of them, as lists; `NONE` once they are handed out. */
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

  /** Hangs a delta on the entry `base`. */
  addOfsDelta(entry: number, base: number): void {
    this.bases[entry] = base;
    this.nextDeltas[entry] = this.firstDeltas[base]!;
    this.firstDeltas[base] = entry;
    this.unresolved++;
  }

  /** Hangs a delta on whatever object has the id at `at`. */
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

  /** Hands out, once, the deltas that name a base by its id: the first of their list, or `NONE`. */
  takeRefDeltas(base: number): number {
    const first = this.#firstRefDelta[base]!;
    this.#firstRefDelta[base] = NONE;
    return first;
  }

  /** The entry that starts at `offset`, or `NONE`. */
  startingAt(offset: number): number {
    const entry = lastUpTo(this.offsets, offset, this.count);
    return this.offsets[entry] === offset ? entry : NONE;
  }

  /** Where the entry ends, in a pack whose entries end at `packEnd`. */
  endOf(entry: number, packEnd: number): number {
    return entry + 1 < this.count ? this.offsets[entry + 1]! : packEnd;
  }

  /** Bases by distance lie before their deltas, so one pass from the end counts everything. */
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
