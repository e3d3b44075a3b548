import type { Steps } from '../../schedule/steps.js';
import type { LineMatcher } from './matcher.js';
import type { SearchText } from './search-text.js';

export interface FoundLine {
  /** Line number, starting at 1. */
  readonly number: number;
  /** Text without its line feed. A carriage return before it stays. */
  readonly text: string;
  readonly type: 'match' | 'context';
}

export interface FileBounds {
  /** Position where the previous page ended. Context lines after its last match may still follow. */
  readonly seen: FilePosition;
  readonly before: number;
  readonly after: number;
  readonly maxMatches: number;
  readonly maxLines: number;
  /** Maximum number of characters of all lines. */
  readonly maxCharacters: number;
  /** True if the page is empty so far. The first line is then included even if it exceeds the maximum of characters. */
  readonly isFirst: boolean;
}

/** Last line shown, and last line that matched; both start at 1, and 0 means none. */
export interface FilePosition {
  readonly line: number;
  readonly match: number;
}

export interface FileResult {
  readonly lines: readonly FoundLine[];
  readonly matches: number;
  readonly characters: number;
  /** Position of the next page; undefined if no line was left out. */
  readonly next?: FilePosition;
}

const NOTHING: FileResult = { lines: [], matches: 0, characters: 0 };

/**
 * Returns the matching lines of one file with their context, as `git grep -n -B -A` shows them, each line once. A page
 * may end between any two lines. The next one starts after the last line shown.
 */
export function* searchFile(file: SearchText, matcher: LineMatcher, bounds: FileBounds): Steps<FileResult> {
  const seen = bounds.seen.line;
  const { needle } = matcher;
  // If a previous page ended in this file, context lines may still follow, so the file is read in any case.
  if (seen === 0 && needle !== undefined && !(yield* file.mayHold(needle))) return NOTHING;
  yield* file.decode();
  const { text } = file;
  if (seen > 0) yield* file.splitLines();
  const page = new FilePage(file, bounds);
  let start = seen === 0 ? 0 : seen < file.lineCount ? file.startOf(seen) : text.length;
  while (start < text.length) {
    const at = yield* matcher.find(text, start);
    if (at < 0) break;
    yield* file.splitLines();
    const line = file.lineAt(at);
    if (!page.match(line)) return page.result(true);
    yield page.takeCost();
    start = file.endOf(line) + 1;
  }
  page.trail(Number.POSITIVE_INFINITY);
  return page.result(page.isFull);
}

/** Work units of a shown line and of a match, in addition to its characters. */
const LINE_COST = 1 / 4;

/** Collects the lines of a page within its limits. Line numbers start at 0, as in `SearchText`. */
class FilePage {
  /** True if a line was left out. */
  isFull = false;
  readonly #lines: FoundLine[] = [];
  #matches = 0;
  #characters = 0;
  #lastMatch: number;
  /** First line that has not been processed. */
  #next: number;
  #cost = 0;

  constructor(
    private readonly file: SearchText,
    private readonly bounds: FileBounds,
  ) {
    this.#next = bounds.seen.line;
    this.#lastMatch = bounds.seen.match - 1;
  }

  /** Adds `line` with its context. Returns false if a limit excludes one of these lines. */
  match(line: number): boolean {
    this.trail(line);
    // Context before a match that is left out belongs to the page that shows the match.
    if (this.isFull || this.#matches >= this.bounds.maxMatches) return false;
    this.#next = Math.max(this.#next, line - this.bounds.before);
    while (this.#next < line && !this.isFull) this.#add('context');
    if (!this.isFull) this.#add('match');
    return !this.isFull;
  }

  /** Adds the context after the last match, up to `line` (exclusive). */
  trail(line: number): void {
    if (this.#lastMatch < 0) return;
    const end = Math.min(this.#lastMatch + this.bounds.after + 1, line, this.file.lineCount);
    while (this.#next < end && !this.isFull) this.#add('context');
  }

  result(isEnded: boolean): FileResult {
    const found = { lines: this.#lines, matches: this.#matches, characters: this.#characters };
    return isEnded ? { ...found, next: { line: this.#next, match: this.#lastMatch + 1 } } : found;
  }

  takeCost(): number {
    const cost = this.#cost;
    this.#cost = 0;
    return cost;
  }

  /** Adds the next line if it fits. */
  #add(type: FoundLine['type']): void {
    const line = this.#next;
    const { maxLines, maxCharacters, isFirst } = this.bounds;
    const characters = this.#characters + this.file.endOf(line) - this.file.startOf(line);
    const isFirstLine = isFirst && this.#lines.length === 0;
    if (this.#lines.length >= maxLines || (characters > maxCharacters && !isFirstLine)) {
      this.isFull = true;
      return;
    }
    this.#lines.push({ number: line + 1, text: this.file.lineText(line), type });
    this.#characters = characters;
    this.#cost += LINE_COST;
    this.#next = line + 1;
    if (type !== 'match') return;
    this.#lastMatch = line;
    this.#matches++;
  }
}
