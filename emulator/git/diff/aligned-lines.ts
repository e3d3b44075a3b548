import { withRoom } from '../../memory/growable.js';
import { IntList } from '../../memory/int-list.js';
import { lastUpTo } from '../../memory/sorted.js';
import { sameBytes } from '../pack/same-bytes.js';
import type { FileLines } from './file-lines.js';

const LF = 10;
/** How far from where it should be an equal line is looked for, up and down the file. */
const ABOVE = 8;
const BELOW = 64;
/** A line of fewer bytes, such as a bracket, is equal to too many for one far away to say anything. */
const TELLING = 4;

/** A file split into lines with the help of a similar one. */
export interface AlignedLines extends FileLines {
  /** Runs of lines that are equal to lines of the other file, in their order. Of each: first line, first line there, lines. */
  readonly runs: Int32Array;
}

/** Numbers of a run in `AlignedLines.runs`. */
export const RUN = 3;

/**
 * Splits a file into lines. What it has in common with `like`, in the same order, costs little (measured: 50 diffs of this
 * repository's history take 245 ms, 300 ms without).
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

/** The first line of `like` from `from` on that is not equal to what the file goes on with at `at`. */
function endOfRun(bytes: Buffer, at: number, { bytes: other, starts }: FileLines, from: number): number {
  const start = starts[from]!;
  const length = sameBytes(bytes, at, other, start, Math.min(bytes.length - at, other.length - start));
  const low = lastUpTo(starts, start + length);
  // A last line without a line feed is equal only to one that is the last, too.
  const isCut = low > from && other[starts[low]! - 1] !== LF && at + starts[low]! - start < bytes.length;
  return isCut ? low - 1 : low;
}

/** A line of `like` around `around` that is equal to bytes `from` to `to`; -1 if there is none. */
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
