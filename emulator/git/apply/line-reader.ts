import { requestLimit } from '../limits/request-limits.js';
import { type ByteString, bytesIn, startsWithAt } from '../object/bytes.js';

const LF = 10;
/** No more of a line of a header is read, nor of a quoted name that goes on over its end: paths are shorter. */
export const MAX_LINE_BYTES = requestLimit('patchLineBytes');

/** What a line holds behind its prefix, its line feed not included. */
export interface LineRest {
  readonly text: ByteString;
  /** Where it starts: quoted names are read on from there, over the end of the line if need be. */
  readonly bytes: Buffer;
  readonly start: number;
}

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

  /** Bytes of the line, its line feed included. */
  get length(): number {
    return this.end - this.start;
  }

  /** Bytes of the line and all behind it. */
  get left(): number {
    return this.bytes.length - this.start;
  }

  /** The line without its line feed. */
  get text(): ByteString {
    return this.rest(0).text;
  }

  rest(prefix: number): LineRest {
    const start = this.start + prefix;
    const end = Math.min(this.isComplete ? this.end - 1 : this.end, start + MAX_LINE_BYTES);
    const text = bytesIn(this.bytes, start, end);
    return { text, bytes: this.bytes, start };
  }

  next(): void {
    this.start = this.end;
    this.end = this.#endFrom(this.start);
    this.number++;
  }

  /** Whether it starts with this ASCII text. */
  startsWith(prefix: string): boolean {
    return startsWithAt(this.bytes, this.start, prefix);
  }

  /** Whether the line after this one starts so. */
  nextStartsWith(prefix: string): boolean {
    return startsWithAt(this.bytes, this.end, prefix);
  }

  /** Where the second line after this one starts. */
  secondNext(): number {
    return this.#endFrom(this.end);
  }

  #endFrom(start: number): number {
    const newline = this.bytes.indexOf(LF, start);
    return newline < 0 ? this.bytes.length : newline + 1;
  }
}
