import type { ByteString } from '../../bytes.js';

const LF = 10;

/** Reads a patch line by line, and knows the number of the line, from 1. */
export class LineReader {
  /** Where the current line starts, and where the next one does. */
  start = 0;
  end = 0;
  number = 1;

  constructor(readonly bytes: Buffer) {
    this.end = this.#endFrom(0);
  }

  get isDone(): boolean {
    return this.start >= this.bytes.length;
  }

  /** Whether the line has its line feed. */
  get isComplete(): boolean {
    return this.end > this.start && this.bytes[this.end - 1] === LF;
  }

  /** The line without its line feed. */
  get text(): ByteString {
    return this.bytes.toString('latin1', this.start, this.isComplete ? this.end - 1 : this.end);
  }

  next(): void {
    this.start = this.end;
    this.end = this.#endFrom(this.start);
    this.number++;
  }

  startsWith(prefix: ByteString): boolean {
    return startsWithAt(this.bytes, this.start, prefix);
  }

  /** Whether the line after this one starts so. */
  nextStartsWith(prefix: ByteString): boolean {
    return startsWithAt(this.bytes, this.end, prefix);
  }

  /** Whether the second line after this one starts so. */
  secondNextStartsWith(prefix: ByteString): boolean {
    return startsWithAt(this.bytes, this.#endFrom(this.end), prefix);
  }

  #endFrom(start: number): number {
    const newline = this.bytes.indexOf(LF, start);
    return newline < 0 ? this.bytes.length : newline + 1;
  }
}

function startsWithAt(bytes: Buffer, start: number, prefix: ByteString): boolean {
  if (start + prefix.length > bytes.length) return false;
  for (let at = 0; at < prefix.length; at++) {
    if (bytes[start + at] !== prefix.charCodeAt(at)) return false;
  }
  return true;
}
