import { COST } from '../schedule/cost.js';
import type { Steps } from '../schedule/steps.js';

/** Bytes that have to agree before a copy is looked into. */
const BLOCK = 16;
/** Blocks with the same hash that are tried; data that repeats itself has no end of them. */
const MOST_TRIES = 16;
/** Bytes looked at between two steps. */
const PIECE = 64 * 1024;
const PIECE_UNITS = PIECE * COST.byteScanned;
const LONGEST_INSERT = 0x7f;
/** Git itself never writes a longer one, and its older readers know none. */
const LONGEST_COPY = 0x10000;
const MULTIPLIER = 0x01000193;
/** `MULTIPLIER` to the power of `BLOCK`: the weight of the byte that leaves the window. */
const LEAVING = powerOfMultiplier(BLOCK);

/**
 * `target` as a delta on `base` (the format is quoted in patch-delta.ts), or undefined when it would be longer than
 * `most` bytes. In steps.
 *
 * What both have in common at their ends is copied without a search. In between, every 16-byte block of
 * the base goes into a hash table and a rolling hash runs over the target; a hit is extended both ways.
 */
export function* diffDelta(base: Buffer, target: Buffer, most: number): Steps<Buffer | undefined> {
  const shorter = Math.min(base.length, target.length);
  let prefix = 0;
  while (prefix < shorter && base[prefix] === target[prefix]) if (++prefix % PIECE === 0) yield PIECE_UNITS;
  let suffix = 0;
  const rest = shorter - prefix;
  while (suffix < rest && base[base.length - 1 - suffix] === target[target.length - 1 - suffix])
    if (++suffix % PIECE === 0) yield PIECE_UNITS;
  // A copy costs up to seven bytes; short agreement is better left to the search.
  if (suffix < BLOCK) suffix = 0;
  const writer = new DeltaWriter(target, most);
  writer.sizes(base.length, target.length);
  if (prefix >= 4) writer.copy(0, prefix);
  else prefix = 0;
  const end = target.length - suffix;
  if (end - prefix >= BLOCK && base.length >= BLOCK) yield* searchCopies(base, target, prefix, end, writer);
  else writer.insert(prefix, end);
  if (suffix > 0) writer.copy(base.length - suffix, suffix);
  return writer.finish();
}

function* searchCopies(base: Buffer, target: Buffer, start: number, end: number, writer: DeltaWriter): Steps<void> {
  const index = new BlockIndex(base);
  yield* index.fill();
  /** Bytes compared since the last step. */
  let compared = 0;
  /** Bytes from here to `at` are not written yet. */
  let pending = start;
  let at = start;
  let hash = hashBlock(target, at);
  while (at + BLOCK <= end && !writer.isTooLong) {
    compared++;
    let bestLength = 0;
    let bestFrom = 0;
    let tries = 0;
    for (let block = index.first(hash); block >= 0 && tries < MOST_TRIES; block = index.next(block)) {
      const from = block * BLOCK;
      const limit = Math.min(base.length - from, end - at);
      let length = 0;
      for (let isSame = true; isSame && length < limit; ) {
        const start = length;
        const stop = Math.min(limit, start + PIECE);
        while (length < stop && base[from + length] === target[at + length]) length++;
        isSame = length === stop;
        compared += length - start;
        if (compared >= PIECE) {
          yield compared * COST.byteScanned;
          compared = 0;
        }
      }
      if (length > bestLength) {
        bestLength = length;
        bestFrom = from;
      }
      // No other block agrees with more than all that is left.
      if (bestLength === end - at) break;
      tries++;
    }
    if (compared >= PIECE) {
      yield compared * COST.byteScanned;
      compared = 0;
    }
    if (bestLength < BLOCK) {
      if (at + BLOCK < end)
        hash = (Math.imul(hash, MULTIPLIER) + target[at + BLOCK]! - Math.imul(target[at]!, LEAVING)) | 0;
      at++;
      continue;
    }
    let back = 0;
    while (at - back > pending && bestFrom - back > 0 && base[bestFrom - back - 1] === target[at - back - 1]) back++;
    writer.insert(pending, at - back);
    writer.copy(bestFrom - back, bestLength + back);
    at += bestLength;
    pending = at;
    if (at + BLOCK <= end) hash = hashBlock(target, at);
  }
  writer.insert(pending, end);
}

/** All blocks of the base by their hash. Blocks with the same hash form a list. */
class BlockIndex {
  readonly #heads: Int32Array;
  readonly #nexts: Int32Array;
  readonly #mask: number;

  constructor(private readonly base: Buffer) {
    const blocks = Math.floor(base.length / BLOCK);
    let size = 16;
    while (size < blocks) size *= 2;
    this.#mask = size - 1;
    this.#heads = new Int32Array(size).fill(-1);
    this.#nexts = new Int32Array(blocks);
  }

  /** Takes all blocks in: from the end, so that each list starts with the earliest. */
  *fill(): Steps<void> {
    for (let block = this.#nexts.length - 1; block >= 0; block--) {
      if ((block * BLOCK) % PIECE === 0) yield PIECE_UNITS;
      const slot = this.#slot(hashBlock(this.base, block * BLOCK));
      this.#nexts[block] = this.#heads[slot]!;
      this.#heads[slot] = block;
    }
  }

  first(hash: number): number {
    return this.#heads[this.#slot(hash)]!;
  }

  next(block: number): number {
    return this.#nexts[block]!;
  }

  #slot(hash: number): number {
    return (hash ^ (hash >>> 15)) & this.#mask;
  }
}

class DeltaWriter {
  readonly #output: Buffer;
  #length = 0;
  isTooLong = false;

  constructor(
    private readonly target: Buffer,
    private readonly most: number,
  ) {
    this.#output = Buffer.allocUnsafe(most + 32);
  }

  sizes(base: number, target: number): void {
    for (const size of [base, target]) {
      let rest = size;
      for (; rest > 0x7f; rest = Math.floor(rest / 128)) this.#output[this.#length++] = (rest & 0x7f) | 0x80;
      this.#output[this.#length++] = rest;
    }
  }

  /** Target bytes `from` to `to`, as they are. */
  insert(from: number, to: number): void {
    for (let at = from; at < to && !this.#isFull(to - at); at += LONGEST_INSERT) {
      const count = Math.min(LONGEST_INSERT, to - at);
      this.#output[this.#length++] = count;
      this.target.copy(this.#output, this.#length, at, at + count);
      this.#length += count;
    }
  }

  copy(from: number, length: number): void {
    for (let done = 0; done < length && !this.#isFull(0); done += LONGEST_COPY) {
      this.#copyOnce(from + done, Math.min(LONGEST_COPY, length - done));
    }
  }

  finish(): Buffer | undefined {
    return this.isTooLong || this.#length > this.most ? undefined : this.#output.subarray(0, this.#length);
  }

  #copyOnce(from: number, length: number): void {
    const output = this.#output;
    const opAt = this.#length++;
    let op = 0x80;
    for (let byte = 0; byte < 4; byte++) {
      const value = (from >>> (byte * 8)) & 0xff;
      if (value === 0) continue;
      op |= 1 << byte;
      output[this.#length++] = value;
    }
    // A size of 0x10000 is written as none.
    for (let byte = 0; byte < 2; byte++) {
      const value = (length >>> (byte * 8)) & 0xff;
      if (value === 0) continue;
      op |= 0x10 << byte;
      output[this.#length++] = value;
    }
    output[opAt] = op;
  }

  /** Whether what comes next, at least `bytes`, would exceed the limit. */
  #isFull(bytes: number): boolean {
    if (this.#length + bytes > this.most) this.isTooLong = true;
    return this.isTooLong;
  }
}

function hashBlock(bytes: Uint8Array, at: number): number {
  let hash = 0;
  for (let byte = 0; byte < BLOCK; byte++) hash = (Math.imul(hash, MULTIPLIER) + bytes[at + byte]!) | 0;
  return hash;
}

function powerOfMultiplier(exponent: number): number {
  let power = 1;
  for (let count = 0; count < exponent; count++) power = Math.imul(power, MULTIPLIER);
  return power;
}
