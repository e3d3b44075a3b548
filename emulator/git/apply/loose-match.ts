import { type FileLines, lineCount, splitLines } from '../diff/file-lines.js';
import { isSpace } from '../diff/white-space.js';

const LF = 0x0a;
/** Number of compared bytes that cost as much as trying one position. */
const BYTES = 64;

/** Splits the old text of a hunk into lines, at its line feeds and at `breaks`, the ends of lines without one. */
export function brokenLines(bytes: Buffer, breaks: readonly number[]): FileLines {
  const { starts } = splitLines(bytes);
  // A last line without a line feed ends at a break, so it must not be counted twice.
  const isCounted = bytes.length > 0 && bytes.at(-1) !== LF;
  const merged = new Int32Array(starts.length + breaks.length - (isCounted ? 1 : 0));
  for (let at = 0, line = 0, broken = 0; at < merged.length; at++) {
    const isLine = broken === breaks.length || (line < starts.length && starts[line]! <= breaks[broken]!);
    merged[at] = isLine ? starts[line++]! : breaks[broken++]!;
  }
  return { bytes, starts: merged };
}

/**
 * Returns if the hunk's lines match the file from line `first` on in the way of Git's `match_fragment`: each line
 * without its white space, then all bytes together. A last line without a line feed therefore equals one with it,
 * unless the hunk must be at the end of the file. `cost` is the number of positions that the comparison counts for.
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

/** Compares two lines without their white space. Returns the result and the number of bytes compared. */
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
