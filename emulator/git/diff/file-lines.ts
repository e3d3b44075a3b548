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
