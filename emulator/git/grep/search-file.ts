import type { Steps } from '../../schedule/steps.js';
import type { LineMatcher } from './matcher.js';
import type { SearchText } from './search-text.js';

export interface FoundLine {
  /** Line number, starting at 1. */
  readonly number: number;
  /** Text of the line without its line feed. A carriage return before the line feed is kept. */
  readonly text: string;
  readonly type: 'match' | 'context';
}

export interface FileBounds {
  /**
   * Position in this file where the previous page of results ended. Context lines after the last match on that page may
   * still be missing.
   */
  readonly seen: FilePosition;
  readonly before: number;
  readonly after: number;
  readonly maxMatches: number;
  readonly maxLines: number;
  /** Maximum number of characters in all lines of the result. */
  readonly maxCharacters: number;
  /**
   * True if the page of results is still empty. The first line is then included even if it exceeds `maxCharacters`, so
   * that no page is empty.
   */
  readonly isFirst: boolean;
}

/**
 * Position in a file where a page of results ended. `line` is the number of the last line shown, `match` that of the
 * last matching line. Both count from 1; 0 if none.
 */
export interface FilePosition {
  readonly line: number;
  readonly match: number;
}

export interface FileResult {
  readonly lines: readonly FoundLine[];
  readonly matches: number;
  readonly characters: number;
  /** Position at which the next page continues in this file. Undefined if the file is complete. */
  readonly next?: FilePosition;
}

const NOTHING: FileResult = { lines: [], matches: 0, characters: 0 };

/**
 * Returns the matching lines of one file with their context lines, as `git grep -n -B -A` shows them. Each line occurs
 * once. A page of results may end between any two lines; the next page starts after the last line shown.
 */
export function* searchFile(file: SearchText, matcher: LineMatcher, bounds: FileBounds): Steps<FileResult> {
  const seen = bounds.seen.line;
  const { needle } = matcher;
  // A file without the needle (text that every match contains) has no match. A file in which the previous page ended
  // must be read in any case, because context lines of its last match may still be missing.
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

/**
 * Cost of adding a line to the result, in work units (about a microsecond each). Searching the characters of the line
 * is counted separately.
 */
const LINE_COST = 1 / 4;

/**
 * Collects the lines of one file for a page of results, up to the limits of the page. Line numbers start at 0, as in
 * `SearchText`.
 */
class FilePage {
  /** True if a line was left out because a limit of the page was reached. */
  isFull = false;
  readonly #lines: FoundLine[] = [];
  #matches = 0;
  #characters = 0;
  #lastMatch: number;
  /** Number of the first line that has been neither added to the page nor skipped. */
  #next: number;
  #cost = 0;

  constructor(
    private readonly file: SearchText,
    private readonly bounds: FileBounds,
  ) {
    this.#next = bounds.seen.line;
    this.#lastMatch = bounds.seen.match - 1;
  }

  /** Adds a matching line and the context lines before it. Returns false if one of these lines exceeds a limit. */
  match(line: number): boolean {
    this.trail(line);
    // Without space for this match, its context lines are not added either. They belong to the next page, which shows
    // the match.
    if (this.isFull || this.#matches >= this.bounds.maxMatches) return false;
    this.#next = Math.max(this.#next, line - this.bounds.before);
    while (this.#next < line && !this.isFull) this.#add('context');
    if (!this.isFull) this.#add('match');
    return !this.isFull;
  }

  /** Adds the context lines after the last match that come before `line`. */
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

  /** Adds the next line of the file if it fits into the page. Otherwise sets `isFull`. */
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
