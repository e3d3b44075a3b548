import { isAscii } from 'node:buffer';
import { StringDecoder } from 'node:string_decoder';
import { COST } from '../schedule/cost.js';
import type { Steps } from '../schedule/steps.js';

/** Bytes decoded at once. */
const PIECE_BYTES = 1 << 16;
/** Lines found at once, and units that one takes beside its characters. */
const LINES_BITS = 12;
const LINES = 1 << LINES_BITS;
const COST_OF_LINE = 1 / 32;
/** Characters of a line, at least, where its start is kept. */
const LINE_LENGTH = 16;

/** A file as it is searched: UTF-8 read as text, malformed bytes as U+FFFD. Lines are counted from 0 here. */
export class SearchText {
  /** About what it takes in memory: V8 keeps one byte a character only where all of them fit. */
  readonly bytes: number;
  /** In lists of `LINES`, none of which has to move when there are more. */
  #starts: readonly Int32Array[] | undefined;
  #lineCount = 0;

  constructor(
    readonly text: string,
    bodyLength: number,
  ) {
    this.bytes =
      Math.ceil(text.length * (text.length === bodyLength ? 1.2 : 2.2)) + (text.length / LINE_LENGTH) * 4 + 200;
  }

  /** Decodes a body, which must not be written into afterwards. */
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
  *splitLines(): Steps<void> {
    if (this.#starts !== undefined) return;
    const { text } = this;
    const starts: Int32Array[] = [];
    let count = 0;
    let start = 0;
    while (start < text.length) {
      const first = start;
      // The last place is for where the line behind these starts, also where there is none.
      const list = new Int32Array(Math.min(LINES, text.length - start) + 1);
      let here = 0;
      for (; here < LINES && start < text.length; here++) {
        list[here] = start;
        const feed = text.indexOf('\n', start);
        start = feed < 0 ? text.length + 1 : feed + 1;
      }
      list[here] = start;
      starts.push(here < LINES ? list.slice(0, here + 1) : list);
      count += here;
      yield here * COST_OF_LINE + (start - first) * COST.byteFound;
    }
    this.#starts = starts;
    this.#lineCount = count;
  }

  /** Forgets where lines start if that takes more than `bytes` counts for it: they are found again when needed. */
  trim(): void {
    if (this.#lineCount > this.text.length / LINE_LENGTH) this.#starts = undefined;
  }

  /** How many lines there are; what follows a last line feed is none. */
  get lineCount(): number {
    return this.#lineCount;
  }

  startOf(line: number): number {
    return this.#lineStarts[line >>> LINES_BITS]![line & (LINES - 1)]!;
  }

  /** Where its line feed is, or would be. */
  endOf(line: number): number {
    return this.#lineStarts[line >>> LINES_BITS]![(line & (LINES - 1)) + 1]! - 1;
  }

  lineText(line: number): string {
    return this.text.slice(this.startOf(line), this.endOf(line));
  }

  /** The line that holds the character at `at`, its line feed included. */
  lineAt(at: number): number {
    let low = 0;
    let high = this.lineCount - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.startOf(middle) <= at) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  get #lineStarts(): readonly Int32Array[] {
    if (this.#starts === undefined) throw new Error('the text has to be split into lines before');
    return this.#starts;
  }
}
