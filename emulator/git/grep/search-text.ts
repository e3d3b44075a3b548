import { isAscii } from 'node:buffer';

/** A file as it is searched: UTF-8 read as text, malformed bytes as U+FFFD. Lines are counted from 0 here. */
export class SearchText {
  readonly text: string;
  /** About what it takes in memory: V8 keeps one byte a character only where all of them fit. */
  readonly bytes: number;
  #starts: Int32Array | undefined;
  #longestLine = -1;

  constructor(body: Buffer) {
    // ASCII is what most files are, and copied several times as fast as UTF-8 is decoded.
    this.text = body.toString(isAscii(body) ? 'latin1' : 'utf8');
    this.bytes = Math.ceil(this.text.length * (this.text.length === body.length ? 1.2 : 2.2)) + 200;
  }

  /** How many lines there are; what follows a last line feed is none. */
  get lineCount(): number {
    return this.#lineStarts.length - 1;
  }

  /** Characters of the longest line. */
  get longestLine(): number {
    if (this.#longestLine < 0) {
      for (let line = 0; line < this.lineCount; line++) {
        this.#longestLine = Math.max(this.#longestLine, this.endOf(line) - this.startOf(line));
      }
    }
    return this.#longestLine;
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

  /** Where lines start, and where the one behind the last would. */
  get #lineStarts(): Int32Array {
    if (this.#starts !== undefined) return this.#starts;
    const { text } = this;
    const starts = [0];
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) starts.push(end + 1);
    if (text !== '' && !text.endsWith('\n')) starts.push(text.length + 1);
    this.#starts = Int32Array.from(starts);
    return this.#starts;
  }
}
