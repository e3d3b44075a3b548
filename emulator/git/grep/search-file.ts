import type { Steps } from '../../schedule/steps.js';
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
  /** What was seen before. Lines after its match may be owed. */
  readonly seen: FilePosition;
  readonly before: number;
  readonly after: number;
  readonly maxMatches: number;
  readonly maxLines: number;
  /** Characters of all lines together. */
  readonly maxCharacters: number;
  /** Nothing was given before: a line is given though it alone breaks the bound on characters. */
  readonly isFirst: boolean;
}

/** Up to which line all was seen, and the last of them that matched; both from 1, 0 for none. */
export interface FilePosition {
  readonly line: number;
  readonly match: number;
}

export interface FileResult {
  readonly lines: readonly FoundLine[];
  readonly matches: number;
  readonly characters: number;
  /** Set when a line was left out. */
  readonly next?: FilePosition;
}

const NOTHING: FileResult = { lines: [], matches: 0, characters: 0 };

/**
 * The matching lines of one file and the lines around them, as `git grep -n -B -A` shows them: no line twice.
 * Bounds end a page between any two lines; what comes next starts after the last line given, and nothing is left out.
 */
export function* searchFile(file: SearchText, matcher: LineMatcher, bounds: FileBounds): Steps<FileResult> {
  const seen = bounds.seen.line;
  const { needle } = matcher;
  // Where something was seen before, lines behind a match may be owed.
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

/** What a line costs to be shown, and one that matches to be found, beside its characters. */
const LINE_COST = 1 / 4;

/** Collects the lines to show, within the bounds. Lines are counted from 0, as `SearchText` does. */
class FilePage {
  /** A line was left out. */
  isFull = false;
  readonly #lines: FoundLine[] = [];
  #matches = 0;
  #characters = 0;
  #lastMatch: number;
  /** The first line not seen yet. */
  #next: number;
  #cost = 0;

  constructor(
    private readonly file: SearchText,
    private readonly bounds: FileBounds,
  ) {
    this.#next = bounds.seen.line;
    this.#lastMatch = bounds.seen.match - 1;
  }

  /** Adds `line` with the lines around it; false if a bound leaves any of them out. */
  match(line: number): boolean {
    this.trail(line);
    // Lines before a match that is left out belong to the page that shows it.
    if (this.isFull || this.#matches >= this.bounds.maxMatches) return false;
    this.#next = Math.max(this.#next, line - this.bounds.before);
    while (this.#next < line && !this.isFull) this.#add('context');
    if (!this.isFull) this.#add('match');
    return !this.isFull;
  }

  /** Adds the lines owed behind the last match, those before `line`. */
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

  /** Adds the next line, if it fits. */
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
