import type { ByteString } from '../bytes.js';
import type { Oid } from '../object.js';
import { PathCursor, type PathList } from '../path-list.js';
import type { PathMatcher } from '../path-matcher.js';
import { COST } from '../schedule/cost.js';
import { type Meter, WorkLimitExceeded } from '../schedule/meter.js';
import { inSlices, type Steps } from '../schedule/steps.js';
import { type CompiledPattern, compilePattern, SHORT_LINE } from './matcher.js';
import { type FoundLine, searchFile } from './search-file.js';
import type { TextCache } from './text-cache.js';

/** A place in a search: everything up to `line` of `path` was seen; line 0 is the start of the file. */
export interface SearchPosition {
  readonly path: ByteString;
  readonly line: number;
}

export interface SearchQuery {
  /** RE2 syntax, at most 1024 characters; or what it was compiled to, and then case is settled. */
  readonly pattern: string | CompiledPattern;
  readonly caseSensitive?: boolean | undefined;
  /** Which files are searched; all by default. */
  readonly selects?: PathMatcher | undefined;
  /** Lines to show around each match; 0 by default. */
  readonly before?: number | undefined;
  readonly after?: number | undefined;
  readonly startAfter?: SearchPosition | undefined;
}

/** What one page may hold. All of them are at least 1. */
export interface SearchLimits {
  readonly maxMatches: number;
  readonly maxMatchesPerFile: number;
  /** Matches and lines around them. */
  readonly maxLines: number;
  /** Characters of all lines; the first match is given whatever its length. */
  readonly maxCharacters?: number | undefined;
}

export interface FileMatches {
  readonly path: ByteString;
  readonly lines: readonly FoundLine[];
}

export interface SearchPage {
  readonly files: readonly FileMatches[];
  /** Where the next page starts; undefined when every match has been seen. */
  readonly next?: SearchPosition;
}

const MAX_CHARACTERS = 8 << 20;

/**
 * Searches the regular files of a tree line by line, in index order, as `git grep -n -B -A` does. Yields
 * file by file; returns where to go on if a limit ended it and something is left to find. Binary files
 * (a NUL in the first 8000 bytes) and large files are left out.
 *
 * Throws `InvalidPattern`, `WorkLimitExceeded`, or the reason of the signal.
 */
export async function* search(
  cache: TextCache,
  tree: Oid,
  query: SearchQuery,
  limits: SearchLimits,
  meter: Meter,
): AsyncGenerator<FileMatches, SearchPosition | undefined, void> {
  const { pattern, selects, startAfter } = query;
  const { any, short } =
    typeof pattern === 'string' ? await compilePattern(pattern, query.caseSensitive === false) : pattern;
  const { paths, numbers } = await cache.listing(tree, meter);
  let matches = limits.maxMatches;
  let lines = limits.maxLines;
  let characters = limits.maxCharacters ?? MAX_CHARACTERS;
  const total = matches;
  cache.begin();
  const { first, isExact } = await inSlices(placeOf(paths, startAfter?.path ?? ''), meter);
  const cursor = new PathCursor(paths, selects);
  for (let at = first; at < paths.length; at++) {
    if (meter.isOver) await meter.pass();
    const isChosen = cursor.tryMoveTo(at);
    if (selects !== undefined) meter.spend(selects.takeSpent());
    if (!(isChosen ?? (await inSlices(cursor.moveTo(at), meter)))) continue;
    const file = cache.text(numbers[at]!);
    if (file === undefined) continue;
    const matcher = any === short || file.longestLine > SHORT_LINE ? any : short;
    const bounds = {
      afterLine: at === first && isExact ? startAfter!.line : 0,
      before: query.before ?? 0,
      after: query.after ?? 0,
      maxMatches: Math.min(limits.maxMatchesPerFile, matches),
      maxLines: lines,
      maxCharacters: characters,
      isFirst: matches === total,
    };
    const found = await searchFile(file, matcher, bounds, meter);
    if (found.lines.length > 0 || found.next !== undefined) {
      const { path } = cursor;
      if (found.lines.length > 0) yield { path, lines: found.lines };
      if (found.next !== undefined) return { path, line: found.next };
    }
    matches -= found.matches;
    lines -= found.lines.length;
    characters -= found.characters;
  }
  return undefined;
}

/** One page of a search. At the deadline a page that is full is given as it is, whether or not more would follow. */
export async function searchPage(
  cache: TextCache,
  tree: Oid,
  query: SearchQuery,
  limits: SearchLimits,
  meter: Meter,
): Promise<SearchPage> {
  const found = search(cache, tree, query, limits, meter);
  const files: FileMatches[] = [];
  try {
    while (true) {
      const { done, value } = await found.next();
      if (!done) files.push(value);
      else return value === undefined ? { files } : { files, next: value };
    }
  } catch (error) {
    const last = files.at(-1);
    if (!(error instanceof WorkLimitExceeded) || last === undefined || !isFull(files, limits)) throw error;
    return { files, next: { path: last.path, line: last.lines.at(-1)!.number } };
  }
}

function isFull(files: readonly FileMatches[], limits: SearchLimits): boolean {
  const lines = files.flatMap((file) => file.lines);
  return lines.length >= limits.maxLines || lines.filter((line) => line.type === 'match').length >= limits.maxMatches;
}

/** The first path not below `path`, in byte order, and whether it is that one. */
function* placeOf(paths: PathList, path: ByteString): Steps<{ readonly first: number; readonly isExact: boolean }> {
  const cursor = new PathCursor(paths);
  let low = 0;
  let high = path === '' ? 0 : paths.length;
  let isExact = false;
  while (low < high) {
    const middle = (low + high) >>> 1;
    yield* cursor.moveTo(middle);
    const found = cursor.path;
    yield found.length * COST.byteCopied;
    if (found < path) low = middle + 1;
    else high = middle;
    isExact ||= found === path;
  }
  return { first: low, isExact };
}
