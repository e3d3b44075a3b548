import { isAscii } from 'node:buffer';
import { StringDecoder } from 'node:string_decoder';
import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';

/** Number of bytes decoded to text between two yields to the event loop. */
const PIECE_BYTES = 1 << 16;
/**
 * `WINDOW`: number of bytes searched in one call of `indexOf`. `COST_OF_LOOKUP`: cost of each of these bytes in work
 * units (about a microsecond each).
 */
const WINDOW = 1 << 17;
const COST_OF_LOOKUP = COST.byteFound / 4;
/**
 * Maximum length of a text that is searched with `indexOf`. V8's lookup tables for searches are limited to this length,
 * and the time is linear only up to it.
 */
export const LONGEST_TEXT = 250;
/**
 * `LINES`: number of lines found between two yields to the event loop. `COST_OF_LINE`: cost of each line in work units,
 * without that of its characters.
 */
const LINES_BITS = 12;
const LINES = 1 << LINES_BITS;
const COST_OF_LINE = 1 / 32;
/**
 * Minimum average line length, in characters, for which the positions of the line starts stay cached. With shorter
 * lines they would use too much memory.
 */
const LINE_LENGTH = 16;

/** Text that every match of a pattern contains. Files without this text can be skipped. */
export interface Needle {
  readonly text: string;
  /** First bytes of the text in UTF-8, at most `LONGEST_TEXT`. */
  readonly bytes: Buffer;
}

/**
 * Returns the needle with which a text can be searched in the undecoded bytes of a file. The needle of a long text is
 * only its beginning. Returns undefined if the bytes cannot show if the text is present.
 */
export function needleOf(text: string): Needle | undefined {
  const start = text.slice(0, LONGEST_TEXT);
  // These characters cannot be searched as UTF-8 bytes. U+FFFD in the decoded text may stand for malformed bytes of the
  // file. A lone surrogate is only a part of a character.
  if (start === '' || /[\p{Cs}\ufffd]/u.test(start)) return undefined;
  return { text: start, bytes: Buffer.from(start, 'utf8').subarray(0, LONGEST_TEXT) };
}

/**
 * Content of a file to search: text decoded from UTF-8, with U+FFFD for malformed bytes. Only the bytes are stored
 * until the text is needed, unless the file is short and ASCII. Line numbers start at 0.
 */
export class SearchText {
  /**
   * Approximate maximum memory of this object in bytes, after decoding and splitting. V8 uses one byte per character if
   * all characters are below U+0100, otherwise two.
   */
  readonly bytes: number;
  #body: Buffer | undefined;
  #text: string | undefined;
  /** Last needle (text that every match contains) that this file was found not to contain; undefined if none. */
  #missing: string | undefined;
  /** Positions of the line starts, in arrays of up to `LINES` lines. A single growing array would have to be copied. */
  #starts: readonly Int32Array[] | undefined;
  #lineCount = 0;

  /**
   * Copies `body`. If `isOwn` is true, uses `body` itself without copying; the caller must then not use it any more.
   */
  constructor(body: Buffer, isOwn = false) {
    const isPlain = isAscii(body);
    // An ASCII file is converted at once, because this is as fast as copying its bytes.
    if (isPlain && body.length <= PIECE_BYTES) this.#text = body.toString('latin1');
    else this.#body = isOwn ? body : Buffer.from(body);
    const text = Math.ceil(body.length * (isPlain ? 1.2 : 2.2));
    this.bytes = text + (body.length / LINE_LENGTH) * 4 + 200;
  }

  /** Decoded text of the file. Throws if `decode` was not called before. */
  get text(): string {
    if (this.#text === undefined) throw new Error('the text is not decoded yet');
    return this.#text;
  }

  /**
   * Returns true if the file is known to lack the needle (text that every match contains). Only the last unsuccessful
   * search is remembered.
   */
  lacks(wanted: Needle): boolean {
    return wanted.text === this.#missing;
  }

  /**
   * Searches the file for the needle (text that every match contains). Returns false if the needle is absent, and true
   * if it is or may be present.
   */
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

  /** Decodes the bytes of the file to `text`, unless this has been done before. */
  *decode(): Steps<void> {
    const body = this.#body;
    if (body === undefined) return;
    this.#text = yield* decodeUtf8(body);
    this.#body = undefined;
  }

  /**
   * Finds the start positions of all lines. Must be called before `lineCount`, `startOf`, `endOf`, `lineText` and
   * `lineAt`.
   */
  *splitLines(): Steps<void> {
    if (this.#starts !== undefined) return;
    const { text } = this;
    const starts: Int32Array[] = [];
    let count = 0;
    let start = 0;
    while (start < text.length) {
      const first = start;
      // The array has one item more than lines. The last item is the start of the next line, even if no line follows.
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

  /**
   * Deletes the line starts if they use more memory than `bytes` counts for them. `splitLines` can compute them again.
   */
  trim(): void {
    if (this.#starts !== undefined && this.#lineCount > this.text.length / LINE_LENGTH) this.#starts = undefined;
  }

  /** Number of lines of the file. A line feed at the end of the file does not start another line. */
  get lineCount(): number {
    return this.#lineCount;
  }

  startOf(line: number): number {
    return this.#lineStarts[line >>> LINES_BITS]![line & (LINES - 1)]!;
  }

  /** Returns the position of the line feed at the end of the line; the end of the text if there is none. */
  endOf(line: number): number {
    return this.#lineStarts[line >>> LINES_BITS]![(line & (LINES - 1)) + 1]! - 1;
  }

  lineText(line: number): string {
    return this.text.slice(this.startOf(line), this.endOf(line));
  }

  /**
   * Returns the number of the line that contains the character at position `at`. A line feed belongs to the line that
   * it ends.
   */
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
    if (this.#starts === undefined) throw new Error('the text is not split into lines yet');
    return this.#starts;
  }
}

function* decodeUtf8(body: Buffer): Steps<string> {
  // Most files are ASCII. Converting them at once is several times as fast as decoding UTF-8 (16 MiB take 4 ms).
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
