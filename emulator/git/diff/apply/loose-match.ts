import type { CutFile } from '../cut-file.js';
import { lineCount } from '../cut-file.js';
import { isSpace } from '../white-space.js';

const LF = 0x0a;

/** The old text of a hunk cut into lines where they have a line feed, and at `breaks` where they have none. */
export function brokenLines(bytes: Buffer, breaks: readonly number[]): CutFile {
  const starts = [0];
  const cutAfterLineFeeds = (end: number) => {
    for (let at = bytes.indexOf(LF, starts.at(-1)!); at >= 0 && at < end; at = bytes.indexOf(LF, at + 1)) {
      starts.push(at + 1);
    }
  };
  for (const end of breaks) {
    cutAfterLineFeeds(end);
    starts.push(end);
  }
  cutAfterLineFeeds(bytes.length);
  return { bytes, starts: Int32Array.from(starts) };
}

/**
 * Whether the hunk's lines are those of the file from line `first` on, as Git compares them (`match_fragment`): line by
 * line without white space, and then all their bytes at once. So a last line without a line feed is equal to one with
 * it, unless the hunk has to be at the end of the file. `cost` is the number of lines looked at.
 */
export function isLooselyEqual(
  file: CutFile,
  first: number,
  wanted: CutFile,
  mustEnd: boolean,
): { isEqual: boolean; cost: number } {
  const count = lineCount(wanted);
  const start = file.starts[first]!;
  const end = start + wanted.bytes.length;
  if (mustEnd ? end !== file.bytes.length : end > file.bytes.length) return { isEqual: false, cost: 1 };
  for (let line = 0; line < count; line++) {
    if (!hasEqualInk(file, first + line, wanted, line)) return { isEqual: false, cost: line + 1 };
  }
  return { isEqual: file.bytes.compare(wanted.bytes, 0, wanted.bytes.length, start, end) === 0, cost: count };
}

/** Whether two lines differ in nothing but white space, wherever it is. */
function hasEqualInk(a: CutFile, lineA: number, b: CutFile, lineB: number): boolean {
  const [endA, endB] = [a.starts[lineA + 1]!, b.starts[lineB + 1]!];
  let [atA, atB] = [a.starts[lineA]!, b.starts[lineB]!];
  for (;;) {
    while (atA < endA && isSpace(a.bytes[atA]!)) atA++;
    while (atB < endB && isSpace(b.bytes[atB]!)) atB++;
    if (atA === endA || atB === endB) return atA === endA && atB === endB;
    if (a.bytes[atA++] !== b.bytes[atB++]) return false;
  }
}
