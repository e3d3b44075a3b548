import { grownLength, resized } from '../../memory/growable.js';
import { PIECE, PIECE_COST, type Steps } from '../../schedule/steps.js';

export const OID_BYTES = 20;
/**
 * Maximum factor by which a table grows at once. It is larger than that of an array (see `grownLength`), because
 * growing a table with many ids is slow: each id must be inserted again, which takes 30 ms for 100,000 ids.
 */
const MOST_GROWTH = 256;

/**
 * Hash table with open addressing that maps object ids to numbers. The first four bytes of an id serve as its hash,
 * because ids are SHA-1.
 *
 * The caller owns the array `oids`, which contains the ids; the id of number `n` is the 20 bytes from `n * 20` on. Each
 * slot of the table contains a number plus one; 0 marks a free slot.
 */
export class OidSlots {
  #slots: Int32Array;
  #mask: number;
  #count = 0;
  /** Number of ids that the table will probably contain; 0 if unknown. The table then grows in fewer, larger steps. */
  expected = 0;

  constructor(capacity = 64) {
    let length = 64;
    while (length < capacity * 2) length *= 2;
    this.#slots = new Int32Array(length);
    this.#mask = length - 1;
  }

  get count(): number {
    return this.#count;
  }

  /** Returns the number of the id that is the 20 bytes of `bytes` at offset `at`, or -1 if absent. */
  find(oids: Uint8Array, bytes: Uint8Array, at: number): number {
    let slot = hashAt(bytes, at) & this.#mask;
    for (let number = this.#slots[slot]!; number !== 0; number = this.#slots[slot]!) {
      if (isSame(oids, (number - 1) * OID_BYTES, bytes, at)) return number - 1;
      slot = (slot + 1) & this.#mask;
    }
    return -1;
  }

  /** Adds `number`, whose id is already in `oids`. The id must not be in the table yet. */
  insert(oids: Uint8Array, number: number): void {
    if ((this.#count + 1) * 2 > this.#slots.length) this.#grow(oids);
    this.#place(oids, number + 1);
    this.#count++;
  }

  /**
   * Returns a table with capacity for `more` further numbers. The result is this table if it is large enough, otherwise
   * a larger copy.
   */
  withRoom(oids: Uint8Array, more: number): OidSlots {
    if ((this.#count + more) * 2 <= this.#slots.length) return this;
    const larger = new OidSlots(this.#count + more);
    for (const value of this.#slots) if (value !== 0) larger.#place(oids, value);
    larger.#count = this.#count;
    return larger;
  }

  /**
   * Replaces each number `n` that is at least `first` by `moved[n - first] - origin`. Called after objects were
   * renumbered. Nothing may use the table before the generator ends.
   */
  *renumber(first: number, moved: Int32Array, origin: number): Steps<void> {
    const slots = this.#slots;
    for (let slot = 0; slot < slots.length; slot++) {
      const number = slots[slot]! - 1;
      if (number >= first) slots[slot] = moved[number - first]! - origin + 1;
      if (slot % PIECE === 0) yield PIECE_COST;
    }
  }

  #place(oids: Uint8Array, value: number): void {
    let slot = hashAt(oids, (value - 1) * OID_BYTES) & this.#mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & this.#mask;
    this.#slots[slot] = value;
  }

  #grow(oids: Uint8Array): void {
    const old = this.#slots;
    let length = old.length * 2;
    while (length < this.expected * 2 && length < old.length * MOST_GROWTH) length *= 2;
    this.#slots = new Int32Array(length);
    this.#mask = this.#slots.length - 1;
    for (let slot = 0; slot < old.length; slot++) {
      const value = old[slot]!;
      if (value !== 0) this.#place(oids, value);
    }
  }
}

/** Set of object ids. The ids are numbered from 0 in the order in which they were added. */
export class OidSet {
  oids = new Uint8Array(64 * OID_BYTES);
  readonly #slots = new OidSlots();

  /** Number of ids that the set will probably contain. The set then grows in fewer, larger steps. */
  set expected(count: number) {
    this.#slots.expected = count;
  }

  get size(): number {
    return this.#slots.count;
  }

  /** Adds an id if it is new, and returns its number. The id is the 20 bytes of `bytes` at offset `at`. */
  add(bytes: Uint8Array, at: number): number {
    const known = this.find(bytes, at);
    if (known >= 0) return known;
    const number = this.size;
    const start = number * OID_BYTES;
    if (start === this.oids.length) {
      this.oids = resized(this.oids, grownLength(start, this.#slots.expected * OID_BYTES));
    }
    for (let byte = 0; byte < OID_BYTES; byte++) this.oids[start + byte] = bytes[at + byte]!;
    this.#slots.insert(this.oids, number);
    return number;
  }

  find(bytes: Uint8Array, at: number): number {
    return this.#slots.find(this.oids, bytes, at);
  }

  /** Returns the offset in `oids` at which the id with this number starts. */
  startOf(number: number): number {
    return number * OID_BYTES;
  }
}

function hashAt(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}

function isSame(a: Uint8Array, aAt: number, b: Uint8Array, bAt: number): boolean {
  for (let byte = 0; byte < OID_BYTES; byte++) {
    if (a[aAt + byte] !== b[bAt + byte]) return false;
  }
  return true;
}
