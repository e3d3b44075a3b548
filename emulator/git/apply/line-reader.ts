import { requestLimit } from '../limits/request-limits.js';
import { type ByteString, bytesIn, startsWithAt } from '../object/bytes.js';

const LF = 10;
/**
 * Maximum number of bytes read of a header line, and of a quoted name that continues after it. Valid paths are shorter.
 */
export const MAX_LINE_BYTES = requestLimit('patchLineBytes');

/** Rest of a line behind its prefix, without its line feed. */
export interface LineRest {
  readonly text: ByteString;
  /** Position of the rest. Quoted names are read from there, if necessary beyond the end of the line. */
  readonly bytes: Buffer;
  readonly start: number;
}

/** Reads a patch line by line. Line numbers start at 1. */
export class LineReader {
  /** Start and end of the current line. */
  start = 0;
  end = 0;
  number = 1;

  constructor(readonly bytes: Buffer) {
    this.end = this.#endFrom(0);
  }

  get isDone(): boolean {
    return this.start >= this.bytes.length;
  }

  /** True if the line ends with a line feed. */
  get isComplete(): boolean {
    return this.end > this.start && this.bytes[this.end - 1] === LF;
  }

  /** Number of bytes of the line, including its line feed. */
  get length(): number {
    return this.end - this.start;
  }

  /** Number of bytes from the start of the line to the end of the patch. */
  get left(): number {
    return this.bytes.length - this.start;
  }

  /** Text of the line without its line feed. */
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

  /** Returns true if the line starts with this ASCII text. */
  startsWith(prefix: string): boolean {
    return startsWithAt(this.bytes, this.start, prefix);
  }

  /** Returns true if the next line starts with this ASCII text. */
  nextStartsWith(prefix: string): boolean {
    return startsWithAt(this.bytes, this.end, prefix);
  }

  /** Returns the start of the second next line. */
  secondNext(): number {
    return this.#endFrom(this.end);
  }

  #endFrom(start: number): number {
    const newline = this.bytes.indexOf(LF, start);
    return newline < 0 ? this.bytes.length : newline + 1;
  }
}
