import { randomBytes } from 'node:crypto';
import { commonEnds } from './common-ends.js';

/** A file cut into lines: line `n` is the bytes from `starts[n]` to `starts[n + 1]`, its line feed included. */
export interface CutFile {
  readonly bytes: Buffer;
  /** One more entry than there are lines; the last is the length of `bytes`. */
  readonly starts: Int32Array;
}

/** A file whose lines are numbered. */
export interface Lines extends CutFile {
  /** Two lines of one interner are equal if and only if their ids are. */
  readonly ids: Int32Array;
}

/** Cuts without numbering: enough to print lines, or to count them. */
export function cutLines(bytes: Buffer): CutFile {
  let starts = new Int32Array((bytes.length >>> 5) + 16);
  let count = 0;
  for (let start = 0; start < bytes.length; ) {
    if (count + 1 >= starts.length) starts = doubled(starts);
    starts[count++] = start;
    const newline = bytes.indexOf(NEWLINE, start);
    start = newline < 0 ? bytes.length : newline + 1;
  }
  starts[count] = bytes.length;
  return { bytes, starts: starts.subarray(0, count + 1) };
}

export function lineCount(file: CutFile): number {
  return file.starts.length - 1;
}

/** What hashes are multiplied with. No file can be made to collide without knowing it; no result depends on it. */
const MULTIPLIER = (randomBytes(4).readUInt32LE() & 0x3fff_fff8) | 0x4000_0005;
const SQUARE = Math.imul(MULTIPLIER, MULTIPLIER);

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

  /** Cuts and numbers a file. What it has in common with the ends of `like`, of this interner too, costs little. */
  lines(bytes: Buffer, like?: Lines): Lines {
    const list = new LineList((bytes.length >>> 5) + 16);
    if (!like) {
      this.#number(bytes, 0, bytes.length, list);
      return list.finish(bytes);
    }
    const { head, tail } = commonEnds(bytes, like);
    const firstTail = lineCount(like) - tail;
    const shift = bytes.length - like.bytes.length;
    list.append(like, 0, head, 0);
    this.#number(bytes, like.starts[head]!, like.starts[firstTail]! + shift, list);
    list.append(like, firstTail, lineCount(like), shift);
    return list.finish(bytes);
  }

  #number(bytes: Buffer, from: number, to: number, list: LineList): void {
    const scratch = this.#ignoreSpace ? Buffer.allocUnsafe(longestLine(bytes)) : undefined;
    for (let start = from; start < to; ) {
      let hash = 0;
      let end = start;
      // Two bytes at a time, for each multiplication has to wait for the one before.
      while (end < to) {
        const first = bytes[end++]!;
        if (first === NEWLINE || end === to) {
          hash = (Math.imul(hash, MULTIPLIER) + first) | 0;
          break;
        }
        const second = bytes[end++]!;
        hash = (Math.imul(hash, SQUARE) + Math.imul(first, MULTIPLIER) + second) | 0;
        if (second === NEWLINE) break;
      }
      if (scratch) {
        const size = squeezeSpace(bytes, start, end, scratch);
        list.push(start, this.#intern(scratch, 0, size, hashOf(scratch, size)));
      } else {
        list.push(start, this.#intern(bytes, start, end, hash));
      }
      start = end;
    }
  }

  #intern(bytes: Buffer, start: number, end: number, hash: number): number {
    const mask = this.#slots.length - 1;
    let slot = slotOf(hash, mask);
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
      let slot = slotOf(hash, mask);
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = id + 1;
    }
    this.#slots = slots;
  }
}

/** Lines while they are collected. */
class LineList {
  #starts: Int32Array<ArrayBuffer>;
  #ids: Int32Array<ArrayBuffer>;
  #count = 0;

  constructor(expected: number) {
    this.#starts = new Int32Array(expected);
    this.#ids = new Int32Array(expected);
  }

  push(start: number, id: number): void {
    this.#reserve(1);
    this.#starts[this.#count] = start;
    this.#ids[this.#count++] = id;
  }

  /** Takes over lines `from` to `to`, which lie `shift` bytes further down here. */
  append({ starts, ids }: Lines, from: number, to: number, shift: number): void {
    this.#reserve(to - from);
    this.#ids.set(ids.subarray(from, to), this.#count);
    for (let line = from; line < to; line++) this.#starts[this.#count++] = starts[line]! + shift;
  }

  finish(bytes: Buffer): Lines {
    this.#starts[this.#count] = bytes.length;
    return { bytes, starts: this.#starts.subarray(0, this.#count + 1), ids: this.#ids.subarray(0, this.#count) };
  }

  /** There is always room for the end behind the last line. */
  #reserve(count: number): void {
    while (this.#count + count >= this.#starts.length) {
      this.#starts = doubled(this.#starts);
      this.#ids = doubled(this.#ids);
    }
  }
}

/** The low bits of a hash depend on the ends of lines most, which are often the same. */
function slotOf(hash: number, mask: number): number {
  return (hash ^ (hash >>> 15)) & mask;
}

function doubled(array: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(array.length * 2);
  larger.set(array);
  return larger;
}

function hashOf(bytes: Buffer, length: number): number {
  let hash = 0;
  for (let at = 0; at < length; at++) {
    hash = (Math.imul(hash, MULTIPLIER) + bytes[at]!) | 0;
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
