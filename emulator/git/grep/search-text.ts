import { isAscii } from 'node:buffer';
import { StringDecoder } from 'node:string_decoder';
import { COST } from '../schedule/cost.js';
import type { Steps } from '../schedule/steps.js';

/** Bytes decoded at once, and line feeds looked for at once. */
const PIECE_BYTES = 1 << 16;
const PIECE_LINES = 4096;

/** A file as it is searched: UTF-8 read as text, malformed bytes as U+FFFD. Lines are counted from 0 here. */
export class SearchText {
  /** About what it takes in memory: V8 keeps one byte a character only where all of them fit. */
  readonly bytes: number;
  #starts: Int32Array | undefined;

  constructor(
    readonly text: string,
    bodyLength: number,
  ) {
    this.bytes = Math.ceil(text.length * (text.length === bodyLength ? 1.2 : 2.2)) + 200;
  }

  /** Decodes a body that nobody else writes into. */
  static *decode(body: Buffer): Steps<SearchText> {
    // ASCII is what most files are, and copied several times as fast as UTF-8 is decoded: 16 MiB in 4 ms, at once.
    if (isAscii(body)) {
      yield body.length * COST.byteCopied;
      return new SearchText(body.toString('latin1'), body.length);
    }
    const decoder = new StringDecoder('utf8');
    const parts: string[] = [];
    for (let at = 0; at < body.length; at += PIECE_BYTES) {
      parts.push(decoder.write(body.subarray(at, at + PIECE_BYTES)));
      yield Math.min(PIECE_BYTES, body.length - at) * COST.byteScanned;
    }
    parts.push(decoder.end());
    const text = parts.join('');
    yield text.length * COST.byteCopied;
    return new SearchText(text, body.length);
  }

  /** Finds where lines start: all below needs to know. */
  *cut(): Steps<void> {
    if (this.#starts !== undefined) return;
    const { text } = this;
    let starts = new Int32Array(Math.min(text.length, PIECE_LINES) + 2);
    let count = 0;
    for (let start = 0; start < text.length; ) {
      const first = start;
      const most = Math.min(starts.length - 1, count + PIECE_LINES);
      for (; count < most && start < text.length; count++) {
        starts[count] = start;
        const feed = text.indexOf('\n', start);
        start = feed < 0 ? text.length + 1 : feed + 1;
      }
      // The one behind the last line would start behind a line feed, also where there is none.
      starts[count] = start;
      yield PIECE_LINES * COST.operation * 2 + (start - first) * COST.byteFound;
      if (count < starts.length - 1) continue;
      const larger = new Int32Array(starts.length * 2);
      larger.set(starts);
      starts = larger;
    }
    this.#starts = starts.slice(0, count + 1);
  }

  /** How many lines there are; what follows a last line feed is none. */
  get lineCount(): number {
    return this.#lineStarts.length - 1;
  }

  startOf(line: number): number {
    return this.#lineStarts[line]!;
  }

  /** Where its line feed is, or would be. */
  endOf(line: number): number {
    return this.#lineStarts[line + 1]! - 1;
  }

  lineText(line: number): string {
    return this.text.slice(this.startOf(line), this.endOf(line));
  }

  /** The line that holds the character at `at`, its line feed included. */
  lineAt(at: number): number {
    const starts = this.#lineStarts;
    let low = 0;
    let high = this.lineCount - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (starts[middle]! <= at) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  get #lineStarts(): Int32Array {
    if (this.#starts === undefined) throw new Error('the text has to be cut into lines before');
    return this.#starts;
  }
}
