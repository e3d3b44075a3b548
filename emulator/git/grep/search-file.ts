import { COST } from '../schedule/cost.js';
import type { Meter } from '../schedule/meter.js';
import type { LineMatcher } from './matcher.js';
import type { SearchText } from './search-text.js';

export interface FoundLine {
  /** From 1. */
  readonly number: number;
  /** Without its line feed; a carriage return before it stays. */
  readonly text: string;
  readonly type: 'match' | 'context';
}

export interface FileBounds {
  /** Lines up to this number were seen before. */
  readonly afterLine: number;
  readonly before: number;
  readonly after: number;
  readonly maxMatches: number;
  readonly maxLines: number;
  /** Characters of all lines together. */
  readonly maxCharacters: number;
  /** Nothing was found before: the first match is given though it alone breaks the bounds on lines and characters. */
  readonly isFirst: boolean;
}

export interface FileResult {
  readonly lines: readonly FoundLine[];
  readonly matches: number;
  readonly characters: number;
  /** Set when a further match was left out: the last line that was seen. */
  readonly next?: number;
}

/**
 * The matching lines of one file and the lines around them, as `git grep -n -B -A` shows them: no line twice.
 * Where the bounds cut, what comes next starts after the last line given.
 */
export async function searchFile(
  file: SearchText,
  matcher: LineMatcher,
  bounds: FileBounds,
  meter: Meter,
): Promise<FileResult> {
  const { text } = file;
  const page = new FilePage(file, bounds);
  let start = bounds.afterLine === 0 ? 0 : file.startOf(Math.min(bounds.afterLine, file.lineCount));
  while (start < text.length) {
    if (meter.isOver) await meter.pass();
    const piece = pieceOf(text, start, matcher.pieceSize);
    meter.spend(piece.length * COST.byteScanned);
    for (let from = 0; from < piece.length; ) {
      const at = matcher.find(piece, from);
      // An empty match behind the last line feed is in no line.
      if (at < 0 || (at === piece.length && piece.endsWith('\n'))) break;
      const line = file.lineAt(start + at);
      if (!page.match(line)) return page.result(true);
      from = file.endOf(line) + 1 - start;
      if (meter.isOver) await meter.pass();
    }
    start += piece.length;
  }
  page.trail(Number.POSITIVE_INFINITY);
  return page.result(false);
}

/** Whole lines from `start`, about `size` characters. */
function pieceOf(text: string, start: number, size: number): string {
  if (text.length - start <= size) return start === 0 ? text : text.slice(start);
  const end = text.indexOf('\n', start + size);
  return text.slice(start, end < 0 ? text.length : end + 1);
}

/** Collects the lines to show, within the bounds. Lines are counted from 0, as `SearchText` does. */
class FilePage {
  readonly #lines: FoundLine[] = [];
  #matches = 0;
  #characters = 0;
  #lastMatch = 0;
  /** The first line not seen yet. */
  #next: number;
  #isFull = false;

  constructor(
    private readonly file: SearchText,
    private readonly bounds: FileBounds,
  ) {
    this.#next = bounds.afterLine;
  }

  /** Adds `line` with the lines around it; false if a bound leaves it out. */
  match(line: number): boolean {
    this.trail(line);
    if (this.#isFull || this.#matches >= this.bounds.maxMatches) return false;
    const wanted = Math.max(this.#next, line - this.bounds.before);
    let first = line;
    while (first > wanted && this.#fits(first - 1, line)) first--;
    const isFirst = this.bounds.isFirst && this.#matches === 0;
    if (!isFirst && (first > wanted || !this.#fits(first, line))) return false;
    for (; first < line; first++) this.#add(first, 'context');
    this.#add(line, 'match');
    this.#lastMatch = line;
    this.#matches++;
    return true;
  }

  /** Adds the lines owed behind the last match, those before `line`. */
  trail(line: number): void {
    if (this.#matches === 0) return;
    const end = Math.min(this.#lastMatch + this.bounds.after + 1, line, this.file.lineCount);
    while (this.#next < end && !this.#isFull) {
      if (this.#fits(this.#next, this.#next)) this.#add(this.#next, 'context');
      else this.#isFull = true;
    }
  }

  result(isCut: boolean): FileResult {
    const found = { lines: this.#lines, matches: this.#matches, characters: this.#characters };
    return isCut ? { ...found, next: this.#next } : found;
  }

  /** Whether the lines from `first` to `last` fit. */
  #fits(first: number, last: number): boolean {
    const characters = this.file.endOf(last) - this.file.startOf(first);
    return (
      this.#lines.length + last - first < this.bounds.maxLines &&
      this.#characters + characters <= this.bounds.maxCharacters
    );
  }

  #add(line: number, type: FoundLine['type']): void {
    const text = this.file.lineText(line);
    this.#lines.push({ number: line + 1, text, type });
    this.#characters += text.length;
    this.#next = line + 1;
  }
}
