import { type FileLines, lineCount, splitLines } from '../diff/file-lines.js';
import { isSpace } from '../diff/white-space.js';

const LF = 0x0a;
/** Bytes that cost as much to compare as a place costs to look at. */
const BYTES = 64;

/** The old text of a hunk, split into lines where they have a line feed, and at `breaks` where they have none. */
export function brokenLines(bytes: Buffer, breaks: readonly number[]): FileLines {
  const { starts } = splitLines(bytes);
  // Without a line feed the last line ends at a break, and is not counted twice.
  const isCounted = bytes.length > 0 && bytes.at(-1) !== LF;
  const merged = new Int32Array(starts.length + breaks.length - (isCounted ? 1 : 0));
  for (let at = 0, line = 0, broken = 0; at < merged.length; at++) {
    const isLine = broken === breaks.length || (line < starts.length && starts[line]! <= breaks[broken]!);
    merged[at] = isLine ? starts[line++]! : breaks[broken++]!;
  }
  return { bytes, starts: merged };
}

/**
 * Whether the hunk's lines are those of the file from line `first` on, as Git compares them (`match_fragment`): line by
 * line without white space, and then all their bytes at once. So a last line without a line feed is equal to one with
 * it, unless the hunk has to be at the end of the file. `cost` is in places looked at.
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

/** Whether two lines differ in nothing but white space, wherever it is; and how many bytes it took to see. */
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
