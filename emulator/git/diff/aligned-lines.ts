import type { FileLines } from './file-lines.js';

const LF = 10;
/** Bytes compared at once. */
const BLOCK = 2048;
/** In place of a line of the other file: there is no equal one nearby. */
export const UNMATCHED = -1;
/** How far from where it should be an equal line is looked for, up and down the file. */
const ABOVE = 8;
const BELOW = 64;
/** A line of fewer bytes, such as a bracket, is equal to too many for one far away to say anything. */
const TELLING = 4;

/** A file split into lines with the help of a similar one. */
export interface AlignedLines extends FileLines {
  /** For each line an equal one of the other file, or `UNMATCHED`. */
  readonly equals: Int32Array;
}

/** Splits a file into lines. What it has in common with `like`, in the same order, costs little. */
export function alignLines(bytes: Buffer, like: FileLines): AlignedLines {
  const { starts: otherStarts } = like;
  const otherCount = otherStarts.length - 1;
  let starts = new Int32Array(otherStarts.length + 16);
  let equals = new Int32Array(starts.length);
  let count = 0;
  const reserve = (more: number): void => {
    if (count + more < starts.length) return;
    const room = Math.max(count + more + 1, starts.length * 2);
    starts = grown(starts, room);
    equals = grown(equals, room);
  };
  let line = 0;
  for (let at = 0; at < bytes.length; ) {
    if (line < otherCount) {
      const end = endOfRun(bytes, at, like, line);
      const shift = at - otherStarts[line]!;
      reserve(end - line);
      for (; line < end; line++) {
        starts[count] = otherStarts[line]! + shift;
        equals[count++] = line;
      }
      at = otherStarts[end]! + shift;
      if (at >= bytes.length) break;
    }
    const feed = bytes.indexOf(LF, at);
    const next = feed < 0 ? bytes.length : feed + 1;
    const found = nearby(bytes, at, next, like, line);
    if (found >= 0) {
      line = found;
    } else {
      reserve(1);
      starts[count] = at;
      equals[count++] = UNMATCHED;
      at = next;
    }
  }
  starts[count] = bytes.length;
  return { bytes, starts: starts.subarray(0, count + 1), equals: equals.subarray(0, count) };
}

/** The first line of `like` from `from` on that is not equal to what the file goes on with at `at`. */
function endOfRun(bytes: Buffer, at: number, { bytes: other, starts }: FileLines, from: number): number {
  const start = starts[from]!;
  const length = commonPrefix(bytes, at, other, start, Math.min(bytes.length - at, other.length - start));
  let low = from;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (starts[middle]! - start <= length) low = middle;
    else high = middle - 1;
  }
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

/** Bytes that are equal from `aStart` and `bStart` on, at most `most`. */
function commonPrefix(a: Buffer, aStart: number, b: Buffer, bStart: number, most: number): number {
  let length = 0;
  while (length + BLOCK <= most) {
    const [aAt, bAt] = [aStart + length, bStart + length];
    if (a.compare(b, bAt, bAt + BLOCK, aAt, aAt + BLOCK) !== 0) break;
    length += BLOCK;
  }
  while (length < most && a[aStart + length] === b[bStart + length]) length++;
  return length;
}

function grown(array: Int32Array<ArrayBuffer>, length: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(length);
  larger.set(array);
  return larger;
}
