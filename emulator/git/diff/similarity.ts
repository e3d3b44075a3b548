import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import { isBinary } from '../object/binary.js';

/**
 * Similarity score of two equal files. Other scores are this number times the fraction of the larger file that the
 * other file also contains.
 */
export const FULL_SCORE = 60_000;

/**
 * Chunks of a file, used to estimate similarity. The chunks are grouped by a small hash of their content, with the
 * total size of each group. Corresponds to Git's `diffcore-delta.c`.
 */
export interface Spans {
  /**
   * Hashes of the chunks, each once, in ascending order. `bytes` has the total size in bytes of the chunks with each
   * hash, at the same index.
   */
  readonly hashes: Int32Array;
  readonly bytes: Int32Array;
}

const HASHES = 107_927;
const CHUNK = 64;
/**
 * Bit mask for positions in a file. The function yields to the event loop where all these bits are set, once every 512
 * KiB.
 */
const PAUSE = (1 << 19) - 1;
const LF = 10;
const CR = 13;

/**
 * Splits a file into chunks and sums up the sizes of the chunks with equal hash. A chunk ends after a line feed, or
 * after 64 bytes. In text files, the CR of a CR LF is ignored. An incomplete last chunk is left out, as in Git.
 */
export function* spansOf(file: Buffer): Steps<Spans> {
  const sizes = new Map<number, number>();
  const isText = !isBinary(file);
  const { length } = file;
  let low = 0;
  let high = 0;
  let size = 0;
  for (let at = 0; at < length; at++) {
    if ((at & PAUSE) === PAUSE) yield PAUSE * COST.byteScanned;
    const byte = file[at]!;
    if (byte === CR && isText && file[at + 1] === LF) continue;
    const carried = low >>> 25;
    low = ((low << 7) ^ (high >>> 25)) + byte;
    high = (high << 7) ^ carried;
    if (++size < CHUNK && byte !== LF) continue;
    const hash = ((low + Math.imul(high, 0x61)) >>> 0) % HASHES;
    sizes.set(hash, (sizes.get(hash) ?? 0) + size);
    low = 0;
    high = 0;
    size = 0;
  }
  const hashes = Int32Array.from(sizes.keys()).sort();
  return { hashes, bytes: hashes.map((hash) => sizes.get(hash)!) };
}

/**
 * Returns true if two files of these sizes (in bytes) could have a similarity of at least `score`. Otherwise, their
 * contents need not be compared.
 */
export function canReach(score: number, sizeA: number, sizeB: number): boolean {
  const larger = Math.max(sizeA, sizeB);
  return larger * (FULL_SCORE - score) >= Math.abs(sizeA - sizeB) * FULL_SCORE;
}

/**
 * Returns the similarity score of two files: the fraction of the larger file that the other file also contains, times
 * `FULL_SCORE`. `a` and `b` are the chunks of the files, `sizeA` and `sizeB` their whole sizes in bytes.
 */
export function similarity(a: Spans, b: Spans, sizeA: number, sizeB: number): number {
  const aCount = a.hashes.length;
  const bCount = b.hashes.length;
  let common = 0;
  for (let i = 0, j = 0; i < aCount && j < bCount; ) {
    const difference = a.hashes[i]! - b.hashes[j]!;
    if (difference === 0) common += Math.min(a.bytes[i++]!, b.bytes[j++]!);
    else if (difference < 0) i++;
    else j++;
  }
  const larger = Math.max(sizeA, sizeB);
  return larger === 0 || sizeB === 0 ? 0 : Math.trunc((common * FULL_SCORE) / larger);
}

/** Converts a similarity score (0 to `FULL_SCORE`) to the percentage that Git prints. */
export function similarityPercent(score: number): number {
  return Math.trunc((score * 100) / FULL_SCORE);
}
