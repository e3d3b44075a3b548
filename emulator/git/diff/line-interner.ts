import { randomBytes } from 'node:crypto';

/** A file cut into lines: line `n` is the bytes from `starts[n]` to `starts[n + 1]`, its newline included. */
export interface Lines {
  readonly bytes: Buffer;
  /** One more entry than there are lines; the last is the length of `bytes`. */
  readonly starts: Int32Array;
  /** Two lines of one interner are equal if and only if their ids are. */
  readonly ids: Int32Array;
}

/** Cuts without numbering: all ids are 0. Enough to print lines, or to count them (`ids.length`). */
export function cutLines(bytes: Buffer): Lines {
  let starts = new Int32Array((bytes.length >>> 5) + 16);
  let count = 0;
  for (let start = 0; start < bytes.length; ) {
    if (count + 1 >= starts.length) starts = doubled(starts);
    starts[count++] = start;
    const newline = bytes.indexOf(NEWLINE, start);
    start = newline < 0 ? bytes.length : newline + 1;
  }
  starts[count] = bytes.length;
  return { bytes, starts: starts.subarray(0, count + 1), ids: new Int32Array(count) };
}

/** What hashes are multiplied with. No file can be made to collide without knowing it; no result depends on it. */
const MULTIPLIER = (randomBytes(4).readUInt32LE() & 0x3fff_fff8) | 0x4000_0005;

const NEWLINE = 10;

/** Numbers the distinct lines of any number of files. It copies each distinct line once and keeps no file. */
export class LineInterner {
  readonly #ignoreSpace: boolean;
  /** Distinct lines, one behind the other; line `id` ends at `#ends[id]` and starts where the one before ends. */
  #text: Buffer = Buffer.allocUnsafe(1 << 14);
  #ends = new Int32Array(512);
  #hashes = new Int32Array(512);
  #size = 0;
  /** Open addressing: id + 1, or 0. */
  #slots = new Int32Array(1024);
  #occurrences: [Int32Array, Int32Array] = [new Int32Array(0), new Int32Array(0)];

  constructor(options: { readonly ignoreSpaceChange?: boolean } = {}) {
    this.#ignoreSpace = options.ignoreSpaceChange ?? false;
  }

  /** How many distinct lines there are; ids are below it. */
  get size(): number {
    return this.#size;
  }

  /** Two all-zero counters per id, to be left all-zero by whoever uses them. */
  occurrences(): readonly [Int32Array, Int32Array] {
    if (this.#occurrences[0].length < this.#size) {
      this.#occurrences = [new Int32Array(this.#ends.length), new Int32Array(this.#ends.length)];
    }
    return this.#occurrences;
  }

  lines(bytes: Buffer): Lines {
    let starts = new Int32Array((bytes.length >>> 5) + 16);
    let ids = new Int32Array(starts.length);
    const scratch = this.#ignoreSpace ? Buffer.allocUnsafe(longestLine(bytes)) : undefined;
    const length = bytes.length;
    let count = 0;
    for (let start = 0; start < length; ) {
      let hash = 0;
      let end = start;
      while (end < length) {
        const byte = bytes[end++]!;
        hash = Math.imul(hash ^ byte, MULTIPLIER);
        hash ^= hash >>> 15;
        if (byte === NEWLINE) break;
      }
      if (count + 1 >= starts.length) {
        starts = doubled(starts);
        ids = doubled(ids);
      }
      starts[count] = start;
      if (scratch) {
        const size = squeezeSpace(bytes, start, end, scratch);
        ids[count++] = this.#intern(scratch, 0, size, hashOf(scratch, size));
      } else {
        ids[count++] = this.#intern(bytes, start, end, hash);
      }
      start = end;
    }
    starts[count] = length;
    return { bytes, starts: starts.subarray(0, count + 1), ids: ids.subarray(0, count) };
  }

  #intern(bytes: Buffer, start: number, end: number, hash: number): number {
    const mask = this.#slots.length - 1;
    let slot = (hash ^ (hash >>> 16)) & mask;
    for (;;) {
      const id = this.#slots[slot]! - 1;
      if (id < 0) break;
      if (this.#hashes[id] === hash && this.#equals(id, bytes, start, end)) return id;
      slot = (slot + 1) & mask;
    }
    return this.#add(bytes, start, end, hash, slot);
  }

  #equals(id: number, bytes: Buffer, start: number, end: number): boolean {
    const from = id === 0 ? 0 : this.#ends[id - 1]!;
    const length = this.#ends[id]! - from;
    if (length !== end - start) return false;
    const text = this.#text;
    for (let at = 0; at < length; at++) {
      if (text[from + at] !== bytes[start + at]) return false;
    }
    return true;
  }

  #add(bytes: Buffer, start: number, end: number, hash: number, slot: number): number {
    const id = this.#size;
    if (id === this.#ends.length) {
      this.#ends = doubled(this.#ends);
      this.#hashes = doubled(this.#hashes);
    }
    const from = id === 0 ? 0 : this.#ends[id - 1]!;
    const to = from + end - start;
    if (to > this.#text.length) {
      const larger = Buffer.allocUnsafe(Math.max(to, this.#text.length * 2));
      this.#text.copy(larger, 0, 0, from);
      this.#text = larger;
    }
    if (end - start > 64) bytes.copy(this.#text, from, start, end);
    else for (let at = start, target = from; at < end; at++) this.#text[target++] = bytes[at]!;
    this.#ends[id] = to;
    this.#hashes[id] = hash;
    this.#slots[slot] = id + 1;
    this.#size++;
    if (this.#size * 2 > this.#slots.length) this.#rehash();
    return id;
  }

  #rehash(): void {
    const slots = new Int32Array(this.#slots.length * 2);
    const mask = slots.length - 1;
    for (let id = 0; id < this.#size; id++) {
      const hash = this.#hashes[id]!;
      let slot = (hash ^ (hash >>> 16)) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = id + 1;
    }
    this.#slots = slots;
  }
}

function doubled(array: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(array.length * 2);
  larger.set(array);
  return larger;
}

function hashOf(bytes: Buffer, length: number): number {
  let hash = 0;
  for (let at = 0; at < length; at++) {
    hash = Math.imul(hash ^ bytes[at]!, MULTIPLIER);
    hash ^= hash >>> 15;
  }
  return hash;
}

function longestLine(bytes: Buffer): number {
  let longest = 0;
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline < 0 ? bytes.length : newline + 1;
    longest = Math.max(longest, end - start);
    start = end;
  }
  return longest;
}

/** What Git's C code takes for white space, whatever the locale. */
export function isSpace(byte: number): boolean {
  return byte === 32 || byte === 9 || byte === 10 || byte === 13;
}

/** Writes the line with each run of white space as one space, and none at its end; returns the length. */
function squeezeSpace(bytes: Buffer, start: number, end: number, target: Buffer): number {
  let size = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (!isSpace(byte)) target[size++] = byte;
    else if (size === 0 || target[size - 1] !== 32) target[size++] = 32;
  }
  return size > 0 && target[size - 1] === 32 ? size - 1 : size;
}
