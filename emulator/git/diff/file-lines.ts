import { commonEnds } from './common-ends.js';

/** A file, split into lines: line `n` is the bytes from `starts[n]` to `starts[n + 1]`, its line feed included. */
export interface FileLines {
  readonly bytes: Buffer;
  /** One more entry than there are lines; the last is the length of `bytes`. */
  readonly starts: Int32Array;
}

const NEWLINE = 10;

export function splitLines(bytes: Buffer): FileLines {
  const list = new StartList((bytes.length >>> 5) + 16);
  list.split(bytes, 0, bytes.length);
  return list.finish(bytes);
}

/** A file split into lines with the help of a similar one. */
export interface FileLinesLike extends FileLines {
  /** Lines that both files start with, and further ones that both end with. */
  readonly head: number;
  readonly tail: number;
}

/** As `splitLines`. What the file has in common with the ends of `like` costs little. */
export function splitLinesLike(bytes: Buffer, like: FileLines): FileLinesLike {
  const { head, tail } = commonEnds(bytes, like);
  const firstTail = lineCount(like) - tail;
  const shift = bytes.length - like.bytes.length;
  const list = new StartList(like.starts.length + 16);
  list.append(like.starts, 0, head, 0);
  list.split(bytes, like.starts[head]!, like.starts[firstTail]! + shift);
  list.append(like.starts, firstTail, lineCount(like), shift);
  return { ...list.finish(bytes), head, tail };
}

export function lineCount(file: FileLines): number {
  return file.starts.length - 1;
}

/** Where lines start, while they are collected. */
class StartList {
  #starts: Int32Array;
  #count = 0;

  constructor(expected: number) {
    this.#starts = new Int32Array(expected);
  }

  /** Adds the lines between two places of the file; the first is the start of a line. */
  split(bytes: Buffer, from: number, to: number): void {
    for (let start = from; start < to; ) {
      if (this.#count === this.#starts.length) this.#reserve(1);
      this.#starts[this.#count++] = start;
      const newline = bytes.indexOf(NEWLINE, start);
      start = newline < 0 ? to : newline + 1;
    }
  }

  /** Takes over lines `from` to `to` of another file, which lie `shift` bytes further down here. */
  append(starts: Int32Array, from: number, to: number, shift: number): void {
    this.#reserve(to - from);
    const target = this.#starts;
    let count = this.#count;
    for (let line = from; line < to; line++) target[count++] = starts[line]! + shift;
    this.#count = count;
  }

  finish(bytes: Buffer): FileLines {
    this.#reserve(1);
    this.#starts[this.#count] = bytes.length;
    return { bytes, starts: this.#starts.subarray(0, this.#count + 1) };
  }

  #reserve(count: number): void {
    const needed = this.#count + count;
    if (needed <= this.#starts.length) return;
    const larger = new Int32Array(Math.max(needed, this.#starts.length * 2));
    larger.set(this.#starts);
    this.#starts = larger;
  }
}
