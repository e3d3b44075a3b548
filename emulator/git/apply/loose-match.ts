import { type FileLines, lineCount, splitLines } from '../diff/file-lines.js';
import { isSpace } from '../diff/white-space.js';

const LF = 0x0a;
/** Number of compared bytes that count as one tried position in the search limit. */
const BYTES = 64;

/**
 * Splits the old text of a hunk into lines. A line ends at a line feed or at a position in `breaks`. A break marks the
 * end of a line without a line feed.
 */
export function brokenLines(bytes: Buffer, breaks: readonly number[]): FileLines {
  const { starts } = splitLines(bytes);
  // If the last line has no line feed, both `starts` and `breaks` contain its end. The end must be counted once.
  const isCounted = bytes.length > 0 && bytes.at(-1) !== LF;
  const merged = new Int32Array(starts.length + breaks.length - (isCounted ? 1 : 0));
  for (let at = 0, line = 0, broken = 0; at < merged.length; at++) {
    const isLine = broken === breaks.length || (line < starts.length && starts[line]! <= breaks[broken]!);
    merged[at] = isLine ? starts[line++]! : breaks[broken++]!;
  }
  return { bytes, starts: merged };
}

/**
 * Compares the lines of a hunk with the file from line `first` on, as Git's `match_fragment` does. It first compares
 * each line without its white space, then all bytes together.
 *
 * A last line without a line feed therefore equals a line with one, unless the hunk must be at the end of the file.
 * `cost` is the number of tried positions that the comparison counts as in the search limit.
 */
export function isLooselyEqual(
  file: FileLines,
  first: number,
  wanted: FileLines,
  mustEnd: boolean,
): { isEqual: boolean; cost: number } {
  const count = lineCount(wanted);
  const start = file.starts[first]!;
  const end = start + wanted.bytes.length;
  if (mustEnd ? end !== file.bytes.length : end > file.bytes.length) return { isEqual: false, cost: 0 };
  let bytes = 0;
  for (let line = 0; line < count; line++) {
    const ink = compareInk(file, first + line, wanted, line);
    bytes += ink.bytes;
    if (!ink.isEqual) return { isEqual: false, cost: Math.ceil(bytes / BYTES) };
  }
  const isEqual = file.bytes.compare(wanted.bytes, 0, wanted.bytes.length, start, end) === 0;
  return { isEqual, cost: Math.ceil(bytes / BYTES) };
}

/**
 * Compares two lines without their white space. `isEqual` is the result; `bytes` is the number of bytes that were
 * compared.
 */
function compareInk(a: FileLines, lineA: number, b: FileLines, lineB: number): { isEqual: boolean; bytes: number } {
  const [startA, startB] = [a.starts[lineA]!, b.starts[lineB]!];
  const [endA, endB] = [a.starts[lineA + 1]!, b.starts[lineB + 1]!];
  let [atA, atB] = [startA, startB];
  let isEqual = true;
  while (isEqual) {
    while (atA < endA && isSpace(a.bytes[atA]!)) atA++;
    while (atB < endB && isSpace(b.bytes[atB]!)) atB++;
    if (atA === endA && atB === endB) break;
    isEqual = atA < endA && atB < endB && a.bytes[atA++] === b.bytes[atB++];
  }
  return { isEqual, bytes: atA - startA + atB - startB };
}
