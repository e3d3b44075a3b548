import { requestLimit } from '../limits/request-limits.js';
import { type ByteString, bytesIn, startsWithAt } from '../object/bytes.js';

const LF = 10;
/**
 * Maximum number of bytes that are read of a header line. A quoted name that continues past the end of its line has the
 * same limit. Valid paths are shorter.
 */
export const MAX_LINE_BYTES = requestLimit('patchLineBytes');

/** Part of a patch line after a prefix such as `--- `, without the line feed. */
export interface LineRest {
  readonly text: ByteString;
  /**
   * Whole patch, and the position in it at which `text` starts. A quoted name is read from `bytes`, because it may
   * continue past the end of the line.
   */
  readonly bytes: Buffer;
  readonly start: number;
}

/** Reader of a patch, line by line. Line numbers start at 1. */
export class LineReader {
  /** Positions in the patch at which the current line starts and ends. */
  start = 0;
  end = 0;
  number = 1;

  constructor(readonly bytes: Buffer) {
    this.end = this.#endFrom(0);
  }

  get isDone(): boolean {
    return this.start >= this.bytes.length;
  }

  /** True if the current line ends with a line feed. The last line may have none. */
  get isComplete(): boolean {
    return this.end > this.start && this.bytes[this.end - 1] === LF;
  }

  /** Number of bytes in the current line, including its line feed. */
  get length(): number {
    return this.end - this.start;
  }

  /** Number of bytes from the start of the current line to the end of the patch. */
  get left(): number {
    return this.bytes.length - this.start;
  }

  /** Text of the current line without its line feed. */
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

  /** Returns true if the current line starts with this ASCII text. */
  startsWith(prefix: string): boolean {
    return startsWithAt(this.bytes, this.start, prefix);
  }

  /** Returns true if the line after the current line starts with this ASCII text. */
  nextStartsWith(prefix: string): boolean {
    return startsWithAt(this.bytes, this.end, prefix);
  }

  /** Returns the position at which the second line after the current line starts. */
  secondNext(): number {
    return this.#endFrom(this.end);
  }

  #endFrom(start: number): number {
    const newline = this.bytes.indexOf(LF, start);
    return newline < 0 ? this.bytes.length : newline + 1;
  }
}
