import { withRoom } from '../../memory/growable.js';

/**
 * Content of a file, split into lines. Line `n` consists of the bytes from `starts[n]` to `starts[n + 1]` (exclusive),
 * including its line feed.
 */
export interface FileLines {
  readonly bytes: Buffer;
  /** Start positions of the lines in `bytes`, followed by the length of `bytes`. */
  readonly starts: Int32Array;
}

const NEWLINE = 10;

export function splitLines(bytes: Buffer): FileLines {
  let starts = new Int32Array((bytes.length >>> 5) + 16);
  let count = 0;
  for (let start = 0; start < bytes.length; ) {
    if (count + 1 === starts.length) starts = withRoom(starts, count + 2);
    starts[count++] = start;
    const newline = bytes.indexOf(NEWLINE, start);
    start = newline < 0 ? bytes.length : newline + 1;
  }
  starts[count] = bytes.length;
  return { bytes, starts: starts.subarray(0, count + 1) };
}

export function lineCount(file: FileLines): number {
  return file.starts.length - 1;
}
