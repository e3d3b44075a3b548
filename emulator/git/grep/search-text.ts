import { isAscii } from 'node:buffer';
import { StringDecoder } from 'node:string_decoder';
import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';

/** Bytes decoded at once. */
const PIECE_BYTES = 1 << 16;
/** Bytes that one call looks a text up in, and units that one of them takes. */
const WINDOW = 1 << 17;
const COST_OF_LOOKUP = COST.byteFound / 4;
/** Characters of the longest text that is looked up: `indexOf` is linear up to this length, because V8 keeps tables of no more. */
export const LONGEST_TEXT = 250;
/** Lines found at once, and units that one takes beside its characters. */
const LINES_BITS = 12;
const LINES = 1 << LINES_BITS;
const COST_OF_LINE = 1 / 32;
/** Characters of a line, at least, where its start is kept. */
const LINE_LENGTH = 16;

/** A text that every match contains. */
export interface Needle {
  readonly text: string;
  /** Its first bytes in UTF-8. */
  readonly bytes: Buffer;
}

/** Returns the needle for a text, of which only the beginning counts; undefined if its bytes do not tell whether it is there. */
export function needleOf(text: string): Needle | undefined {
  const start = text.slice(0, LONGEST_TEXT);
  // U+FFFD stands for malformed bytes, half a surrogate pair for half of a character.
  if (start === '' || /[\p{Cs}\ufffd]/u.test(start)) return undefined;
  return { text: start, bytes: Buffer.from(start, 'utf8').subarray(0, LONGEST_TEXT) };
}

/**
 * A file as it is searched: UTF-8 read as text, malformed bytes as U+FFFD. Unless it is short and plain, it is kept as the
 * bytes that it is until the text is needed. Lines are counted from 0 here.
 */
export class SearchText {
  /** About what it takes in memory at most: V8 keeps one byte a character only where all of them fit. */
  readonly bytes: number;
  #body: Buffer | undefined;
  #text: string | undefined;
  /** What was looked up last and not found. */
  #missing: string | undefined;
  /** In lists of `LINES`, none of which has to move when there are more. */
  #starts: readonly Int32Array[] | undefined;
  #lineCount = 0;

  /** `body` is borrowed: what is kept of it is a copy, unless it is the text's own from now on. */
  constructor(body: Buffer, isOwn = false) {
    const isPlain = isAscii(body);
    // Plain text is copied as fast as its bytes.
    if (isPlain && body.length <= PIECE_BYTES) this.#text = body.toString('latin1');
    else this.#body = isOwn ? body : Buffer.from(body);
    const text = Math.ceil(body.length * (isPlain ? 1.2 : 2.2));
    this.bytes = text + (body.length / LINE_LENGTH) * 4 + 200;
  }

  /** The text. There is none before `decode`. */
  get text(): string {
    if (this.#text === undefined) throw new Error('the text has to be decoded before');
    return this.#text;
  }

  /** Whether it is known that what is wanted is not there. */
  lacks(wanted: Needle): boolean {
    return wanted.text === this.#missing;
  }

  /** Returns true if the text may contain what is wanted. */
  *mayHold(wanted: Needle): Steps<boolean> {
    if (this.lacks(wanted)) return false;
    const body = this.#body;
    if (body === undefined) {
      if (this.text.length > WINDOW) return true;
      const found = this.text.indexOf(wanted.text);
      yield (found < 0 ? this.text.length : found) * COST_OF_LOOKUP;
      if (found < 0) this.#missing = wanted.text;
      return found >= 0;
    }
    for (let start = 0; start < body.length; start += WINDOW) {
      const end = Math.min(body.length, start + WINDOW + wanted.bytes.length - 1);
      const window = start === 0 && end === body.length ? body : body.subarray(start, end);
      const found = window.indexOf(wanted.bytes);
      yield (found < 0 ? window.length : found) * COST_OF_LOOKUP;
      if (found >= 0) return true;
    }
    this.#missing = wanted.text;
    return false;
  }

  /** Makes the text of the bytes. */
  *decode(): Steps<void> {
    const body = this.#body;
    if (body === undefined) return;
    this.#text = yield* decodeUtf8(body);
    this.#body = undefined;
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
    if (this.#starts !== undefined && this.#lineCount > this.text.length / LINE_LENGTH) this.#starts = undefined;
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

function* decodeUtf8(body: Buffer): Steps<string> {
  // ASCII is what most files are, and copied several times as fast as UTF-8 is decoded: 16 MiB in 4 ms, at once.
  if (isAscii(body)) {
    yield body.length * COST.byteCopied;
    return body.toString('latin1');
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
  return text;
}
