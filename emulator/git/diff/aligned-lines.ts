import { withRoom } from '../../memory/growable.js';
import { IntList } from '../../memory/int-list.js';
import { lastUpTo } from '../../memory/sorted.js';
import { sameBytes } from '../pack/same-bytes.js';
import type { FileLines } from './file-lines.js';

const LF = 10;
/**
 * Maximum distances, in lines, at which an equal line of the other file is searched before (`ABOVE`) and after
 * (`BELOW`) the expected position.
 */
const ABOVE = 8;
const BELOW = 64;
/**
 * Minimum length in bytes of a line that is searched at other positions. Shorter lines, such as a bracket, occur too
 * often to show which lines correspond.
 */
const TELLING = 4;

/** File split into lines and aligned with a similar file. Most of the lines that both files contain are known. */
export interface AlignedLines extends FileLines {
  /**
   * Runs of consecutive lines that equal lines of the other file, in order. Three numbers describe a run: its first
   * line in this file, its first line in the other file, and its number of lines.
   */
  readonly runs: Int32Array;
}

/** Number of items of `AlignedLines.runs` that describe one run. */
export const RUN = 3;

/**
 * Splits a file into lines and aligns it with the similar file `like`. Lines in the same order in both files are found
 * by comparing bytes, which is cheap (measured: 50 diffs of this repository's history take 245 ms, and 300 ms without
 * this function).
 */
export function alignLines(bytes: Buffer, like: FileLines): AlignedLines {
  const { starts: otherStarts } = like;
  const otherCount = otherStarts.length - 1;
  const runs = new IntList();
  let starts = new Int32Array(otherStarts.length + 16);
  let count = 0;
  let line = 0;
  for (let at = 0; at < bytes.length; ) {
    if (line < otherCount) {
      const end = endOfRun(bytes, at, like, line);
      if (end > line) {
        const shift = at - otherStarts[line]!;
        starts = withRoom(starts, count + end - line + 1);
        starts.set(otherStarts.subarray(line, end), count);
        if (shift !== 0) move(starts, count, count + end - line, shift);
        runs.push(count);
        runs.push(line);
        runs.push(end - line);
        count += end - line;
        line = end;
        at = otherStarts[end]! + shift;
        if (at >= bytes.length) break;
      }
    }
    const feed = bytes.indexOf(LF, at);
    const next = feed < 0 ? bytes.length : feed + 1;
    const found = nearby(bytes, at, next, like, line);
    if (found >= 0) {
      line = found;
    } else {
      starts = withRoom(starts, count + 2);
      starts[count++] = at;
      at = next;
    }
  }
  starts[count] = bytes.length;
  return { bytes, starts: starts.subarray(0, count + 1), runs: runs.view() };
}

function move(starts: Int32Array, from: number, to: number, shift: number): void {
  for (let at = from; at < to; at++) starts[at]! += shift;
}

/**
 * Compares the lines of `like` from line `from` on with `bytes` from position `at` on. Returns the number of the first
 * line of `like` that differs.
 */
function endOfRun(bytes: Buffer, at: number, { bytes: other, starts }: FileLines, from: number): number {
  const start = starts[from]!;
  const length = sameBytes(bytes, at, other, start, Math.min(bytes.length - at, other.length - start));
  const low = lastUpTo(starts, start + length);
  // The last line of `like` may have no line feed. It can then only equal a line at the end of the file. If the file
  // continues, this line is not part of the run.
  const isCut = low > from && other[starts[low]! - 1] !== LF && at + starts[low]! - start < bytes.length;
  return isCut ? low - 1 : low;
}

/**
 * Returns the number of a line of `like` that equals the line in `bytes` from `from` to `to` (exclusive); -1 if none is
 * found. Only lines near line `around` are searched.
 */
function nearby(bytes: Buffer, from: number, to: number, { bytes: other, starts }: FileLines, around: number): number {
  const length = to - from;
  const last = Math.min(starts.length - 1, around + BELOW);
  if (length < TELLING) return -1;
  for (let line = Math.max(0, around - ABOVE); line < last; line++) {
    const start = starts[line]!;
    if (starts[line + 1]! - start !== length || line === around) continue;
    let same = 0;
    while (same < length && bytes[from + same] === other[start + same]) same++;
    if (same === length) return line;
  }
  return -1;
}
