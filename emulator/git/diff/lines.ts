import { compactChanges } from './compaction.js';
import { selectCandidates } from './discard.js';
import { LineInterner, type Lines } from './line-interner.js';
import { markDifferences } from './myers.js';

/**
 * `oldCount` lines at `oldStart` became `newCount` lines at `newStart`; lines count from 0. Lists of
 * changes are in order, and at least one equal line lies between two of them.
 */
export interface Change {
  readonly oldStart: number;
  readonly oldCount: number;
  readonly newStart: number;
  readonly newCount: number;
}

export interface LineDiffOptions {
  /** As `git diff -b`: runs of white space are equal to each other, trailing white space is nothing. */
  readonly ignoreSpaceChange?: boolean;
  /** Choose among equal positions of a change by indentation, as `git diff` does unless told not to. On by default. */
  readonly indentHeuristic?: boolean;
  /**
   * Compare without the common tail, as Git does when it wants no context lines (`-U0`, blame). The tail is
   * then unseen by every heuristic, so changes may land elsewhere.
   */
  readonly trimTail?: boolean;
}

/** The line changes from `oldBytes` to `newBytes`, the very ones `git diff` finds (its default algorithm). */
export function diffLines(oldBytes: Buffer, newBytes: Buffer, options: LineDiffOptions = {}): Change[] {
  const interner = new LineInterner(options);
  const oldLines = interner.lines(oldBytes);
  return diffInterned(interner, oldLines, interner.lines(newBytes, oldLines), options);
}

/** As `diffLines`, of lines that `interner` has numbered; cheaper when one file is compared with many. */
export function diffInterned(
  interner: LineInterner,
  oldLines: Lines,
  newLines: Lines,
  options: LineDiffOptions = {},
): Change[] {
  let oldIds = oldLines.ids;
  let newIds = newLines.ids;
  if (options.trimTail) {
    const tail = commonTailLines(oldLines, newLines);
    oldIds = oldIds.subarray(0, oldIds.length - tail);
    newIds = newIds.subarray(0, newIds.length - tail);
  }
  const shorter = Math.min(oldIds.length, newIds.length);
  let head = 0;
  while (head < shorter && oldIds[head] === newIds[head]) head++;
  let tail = 0;
  while (tail < shorter - head && oldIds[oldIds.length - 1 - tail] === newIds[newIds.length - 1 - tail]) tail++;
  const oldEnd = oldIds.length - tail;
  const newEnd = newIds.length - tail;
  if (head === oldEnd && head === newEnd) return [];

  // One flag a line, and a zero beyond the end, so that runs of flags end by themselves.
  const oldFlags = new Uint8Array(oldIds.length + 1);
  const newFlags = new Uint8Array(newIds.length + 1);
  if (head === oldEnd) newFlags.fill(1, head, newEnd);
  else if (head === newEnd) oldFlags.fill(1, head, oldEnd);
  else {
    const [oldSide, newSide] = selectCandidates(
      interner,
      { ids: oldIds, head, end: oldEnd, flags: oldFlags },
      {
        ids: newIds,
        head,
        end: newEnd,
        flags: newFlags,
      },
    );
    markDifferences(oldSide, newSide);
  }
  const indent = options.indentHeuristic === false ? undefined : { old: oldLines, new: newLines };
  compactChanges({ ids: oldIds, flags: oldFlags, text: indent?.old }, { ids: newIds, flags: newFlags });
  compactChanges({ ids: newIds, flags: newFlags, text: indent?.new }, { ids: oldIds, flags: oldFlags });
  return collectChanges(oldFlags, newFlags);
}

function collectChanges(oldFlags: Uint8Array, newFlags: Uint8Array): Change[] {
  const changes: Change[] = [];
  const oldEnd = oldFlags.length - 1;
  const newEnd = newFlags.length - 1;
  let oldAt = 0;
  let newAt = 0;
  while (oldAt < oldEnd || newAt < newEnd) {
    const oldStart = oldAt;
    const newStart = newAt;
    while (oldFlags[oldAt] !== 0) oldAt++;
    while (newFlags[newAt] !== 0) newAt++;
    if (oldAt > oldStart || newAt > newStart) {
      changes.push({ oldStart, oldCount: oldAt - oldStart, newStart, newCount: newAt - newStart });
    }
    oldAt++;
    newAt++;
  }
  return changes;
}

const TRIM_BLOCK = 1024;

/** Lines of the common tail that Git leaves out: whole blocks of 1024 equal bytes, less the line they cut. */
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
  return a.ids.length - lineAt(a, newline + 1);
}

/** The number of the line that starts at byte `at`, or of the first one behind it. */
function lineAt(lines: Lines, at: number): number {
  let low = 0;
  let high = lines.ids.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (lines.starts[middle]! < at) low = middle + 1;
    else high = middle;
  }
  return low;
}
