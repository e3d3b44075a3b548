import { lastUpTo } from '../../memory/sorted.js';
import type { Steps } from '../../schedule/steps.js';
import { sameBytes, sameBytesBefore } from '../pack/same-bytes.js';
import { type Change, collectChanges } from './change.js';
import { compactChanges } from './compaction.js';
import { selectCandidates } from './discard.js';
import type { LineInterner, LinePair, Lines } from './line-interner.js';
import { markDifferences } from './myers.js';

export interface LineDiffOptions {
  /** If true, treats all runs of white space as equal and ignores trailing white space, as `git diff -b` does. */
  readonly ignoreSpaceChange?: boolean;
  /**
   * If true, excludes the equal lines at the end of both files from the comparison. Git does this when it needs no
   * context lines (`-U0`, blame). A change whose position is ambiguous may then be placed at other lines.
   */
  readonly trimTail?: boolean;
}

/**
 * Computes the changed lines between two files whose lines already have ids from `interner`. The result equals that of
 * `diffPair`. This function is cheaper if one file is compared with many.
 */
export function diffInterned(
  interner: LineInterner,
  oldLines: Lines,
  newLines: Lines,
  options: LineDiffOptions = {},
): Steps<Change[]> {
  return diffPair(interner, { old: oldLines, new: newLines, ...equalEnds(oldLines.ids, newLines.ids) }, options);
}

/** Size in bytes of a line's id. */
const ID = 4;

/**
 * Returns the number of equal ids at the start (`head`) and at the end (`tail`) of both arrays. No id counts in both
 * numbers.
 */
function equalEnds(a: Int32Array, b: Int32Array): { head: number; tail: number } {
  const [left, right] = [bytesOf(a), bytesOf(b)];
  const max = Math.min(left.length, right.length);
  const head = Math.floor(sameBytes(left, 0, right, 0, max) / ID);
  const tail = Math.floor(sameBytesBefore(left, left.length, right, right.length, max - head * ID) / ID);
  return { head, tail };
}

function bytesOf({ buffer, byteOffset, byteLength }: Int32Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/**
 * Computes the changed lines between two versions of a file that `interner` has split into lines. The result equals
 * that of `git diff` with its default algorithm.
 */
export function* diffPair(interner: LineInterner, pair: LinePair, options: LineDiffOptions = {}): Steps<Change[]> {
  const { old: oldLines, new: newLines } = pair;
  const trimmed = options.trimTail ? commonTailLines(oldLines, newLines) : 0;
  const oldIds = oldLines.ids.subarray(0, oldLines.ids.length - trimmed);
  const newIds = newLines.ids.subarray(0, newLines.ids.length - trimmed);
  const numberOld = (line: number) => interner.idAt(oldLines, line);
  const numberNew = (line: number) => interner.idAt(newLines, line);
  const isSame = (oldLine: number, newLine: number) => numberOld(oldLine) === numberNew(newLine);

  const shorter = Math.min(oldIds.length, newIds.length);
  let head = Math.min(pair.head, shorter);
  while (head < shorter && isSame(head, head)) head++;
  let tail = Math.min(Math.max(0, pair.tail - trimmed), shorter - head);
  while (tail < shorter - head && isSame(oldIds.length - 1 - tail, newIds.length - 1 - tail)) tail++;
  const oldEnd = oldIds.length - tail;
  const newEnd = newIds.length - tail;
  if (head === oldEnd && head === newEnd) return [];

  // One flag per line, set to 1 if the line is changed. An additional 0 ends the last run of changed lines.
  const oldFlags = new Uint8Array(oldIds.length + 1);
  const newFlags = new Uint8Array(newIds.length + 1);
  if (head === oldEnd) newFlags.fill(1, head, newEnd);
  else if (head === newEnd) oldFlags.fill(1, head, oldEnd);
  else {
    const [oldSide, newSide] = selectCandidates(
      interner,
      { ids: oldIds, text: oldLines, head, end: oldEnd, flags: oldFlags },
      { ids: newIds, text: newLines, head, end: newEnd, flags: newFlags },
    );
    yield* markDifferences(oldSide, newSide);
  }
  const oldFile = { ids: oldIds, flags: oldFlags, text: oldLines, number: numberOld };
  const newFile = { ids: newIds, flags: newFlags, text: newLines, number: numberNew };
  yield* compactChanges(oldFile, newFile);
  yield* compactChanges(newFile, oldFile);
  return collectChanges(oldFlags, newFlags);
}

const TRIM_BLOCK = 1024;

/**
 * Returns the number of equal lines at the end of both files that Git leaves out of the comparison. Git leaves out
 * whole blocks of 1024 equal bytes, counted from the end. The first block may start within a line, so its first line
 * end is skipped.
 */
function commonTailLines(a: Lines, b: Lines): number {
  const shorter = Math.min(a.bytes.length, b.bytes.length);
  let trimmed = 0;
  while (trimmed + TRIM_BLOCK <= shorter) {
    const aEnd = a.bytes.length - trimmed;
    const bEnd = b.bytes.length - trimmed;
    if (a.bytes.compare(b.bytes, bEnd - TRIM_BLOCK, bEnd, aEnd - TRIM_BLOCK, aEnd) !== 0) break;
    trimmed += TRIM_BLOCK;
  }
  if (trimmed === 0) return 0;
  const newline = a.bytes.indexOf(10, a.bytes.length - trimmed);
  if (newline < 0) return 0;
  return a.ids.length - 1 - lastUpTo(a.starts, newline, a.ids.length);
}
