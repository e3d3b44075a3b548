import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import { DeltaWriter } from './delta-writer.js';
import { sameBytes, sameBytesBefore } from './same-bytes.js';

/** Length in bytes of the hashed blocks. It is also the minimum length of a range that the search finds in the base. */
const BLOCK = 16;
/**
 * Maximum number of base blocks with one hash that are compared with a position of the target. Repetitive data has very
 * many such blocks.
 */
const MAX_TRIES = 16;
/** Length in bytes of a match (equal bytes in base and target) that ends the search for a longer one. */
const LONG_ENOUGH = 4096;
/**
 * Number of bytes before and after the changed part of the base that are also searched for matches. It is
 * `MARGIN_TIMES` times the length of the target's changed part, and at least `LEAST_MARGIN`.
 */
const LEAST_MARGIN = 1024;
const MARGIN_TIMES = 8;
/** Number of bytes compared or hashed between two yields. */
const PIECE = 64 * 1024;
const PIECE_UNITS = PIECE * COST.byteScanned;
const MULTIPLIER = 0x01000193;
/** `MULTIPLIER` to the power of `BLOCK`. The rolling hash uses this factor to subtract its oldest byte. */
const LEAVING = powerOfMultiplier(BLOCK);

/**
 * Returns a delta: instructions to build `target` from `base`. The format is quoted in patch-delta.ts. Returns
 * undefined if the delta would be longer than `max` bytes. Also returns undefined for an empty target, because Git may
 * refuse its delta as too short. Yields between pieces of work, so that other requests can run.
 *
 * The common prefix and suffix are copied without a search. In the part between them, a rolling hash (Rabin-Karp) of
 * the target is looked up at each byte. The lookup is in a hash table of the 16-byte blocks of the base. Each match is
 * extended in both directions.
 */
export function* diffDelta(base: Buffer, target: Buffer, max: number): Steps<Buffer | undefined> {
  if (target.length === 0) return undefined;
  const shorter = Math.min(base.length, target.length);
  let prefix = 0;
  for (let isSame = true; isSame && prefix < shorter; ) {
    const count = Math.min(PIECE, shorter - prefix);
    const same = sameBytes(base, prefix, target, prefix, count);
    prefix += same;
    isSame = same === count;
    yield same * COST.byteScanned;
  }
  let suffix = 0;
  const rest = shorter - prefix;
  for (let isSame = true; isSame && suffix < rest; ) {
    const count = Math.min(PIECE, rest - suffix);
    const same = sameBytesBefore(base, base.length - suffix, target, target.length - suffix, count);
    suffix += same;
    isSame = same === count;
    yield same * COST.byteScanned;
  }
  // A copy instruction costs up to seven bytes, so a short common suffix is not worth copying. The search may find a
  // longer match that includes it.
  if (suffix < BLOCK) suffix = 0;
  const writer = new DeltaWriter(max);
  writer.sizes(base.length, target.length);
  if (prefix >= 4) writer.copy(0, prefix);
  else prefix = 0;
  const end = target.length - suffix;
  if (end - prefix >= BLOCK && base.length >= BLOCK) {
    // Only the changed part of the base and the bytes around it are searched. The changed part of the target mostly
    // resembles them, so this finds most matches at little cost.
    const margin = Math.max(LEAST_MARGIN, (end - prefix) * MARGIN_TIMES);
    const index = new BlockIndex(
      base,
      Math.max(0, prefix - margin),
      Math.min(base.length, base.length - suffix + margin),
    );
    yield* searchCopies(base, target, prefix, end, index, writer);
  } else writer.insert(target, prefix, end);
  if (suffix > 0) writer.copy(base.length - suffix, suffix);
  return writer.finish();
}

function* searchCopies(
  base: Buffer,
  target: Buffer,
  start: number,
  end: number,
  index: BlockIndex,
  writer: DeltaWriter,
): Steps<void> {
  yield* index.fill();
  /** Number of bytes compared since the last yield. */
  let compared = 0;
  /** Start of the target bytes that no instruction covers yet. These bytes end at `at` (exclusive). */
  let pending = start;
  let at = start;
  let hash = hashBlock(target, at);
  while (at + BLOCK <= end && !writer.isTooLong) {
    compared++;
    let bestLength = 0;
    let bestFrom = 0;
    let tries = 0;
    for (let block = index.first(hash); block >= 0 && tries < MAX_TRIES; block = index.next(block)) {
      const from = index.startOf(block);
      const limit = Math.min(base.length - from, end - at);
      let length = 0;
      for (let isSame = true; isSame && length < limit; ) {
        const count = Math.min(PIECE, limit - length);
        const same = sameBytes(base, from + length, target, at + length, count);
        length += same;
        isSame = same === count;
        compared += same;
        if (compared >= PIECE) {
          yield compared * COST.byteScanned;
          compared = 0;
        }
      }
      if (length > bestLength) {
        bestLength = length;
        bestFrom = from;
      }
      if (bestLength >= LONG_ENOUGH || bestLength === end - at) break;
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
    writer.insert(target, pending, at - back);
    writer.copy(bestFrom - back, bestLength + back);
    at += bestLength;
    pending = at;
    if (at + BLOCK <= end) hash = hashBlock(target, at);
  }
  writer.insert(target, pending, end);
}

/** Hash table of the 16-byte blocks in a part of the base. Blocks with equal hashes form a linked list. */
class BlockIndex {
  readonly #heads: Int32Array;
  readonly #nexts: Int32Array;
  readonly #mask: number;

  constructor(
    private readonly base: Buffer,
    private readonly start: number,
    end: number,
  ) {
    const blocks = Math.floor((end - start) / BLOCK);
    let size = 16;
    while (size < blocks) size *= 2;
    this.#mask = size - 1;
    this.#heads = new Int32Array(size).fill(-1);
    this.#nexts = new Int32Array(blocks);
  }

  /**
   * Adds all blocks of the base to the table, the last one first. Each list therefore starts with the block that is
   * first in the base.
   */
  *fill(): Steps<void> {
    for (let block = this.#nexts.length - 1; block >= 0; block--) {
      if ((block * BLOCK) % PIECE === 0) yield PIECE_UNITS;
      const slot = this.#slot(hashBlock(this.base, this.startOf(block)));
      this.#nexts[block] = this.#heads[slot]!;
      this.#heads[slot] = block;
    }
  }

  startOf(block: number): number {
    return this.start + block * BLOCK;
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
