import { COST } from '../../schedule/cost.js';
import { type Meter, WorkLimitExceeded } from '../../schedule/meter.js';
import { PIECE_COST, runYielding, type Steps } from '../../schedule/steps.js';
import { requestLimit } from '../limits/request-limits.js';
import { type ByteString, NO_BYTES } from '../object/bytes.js';
import type { Oid } from '../object/object.js';
import { PathCursor, type PathList } from '../pathspec/path-list.js';
import type { PathMatcher } from '../pathspec/path-matcher.js';
import type { LineMatcher } from './matcher.js';
import { type FilePosition, type FoundLine, searchFile } from './search-file.js';
import type { TextCache } from './text-cache.js';

/**
 * Position where a page of results ended. The file `path` was shown up to `line`. Lines count from 1; line 0 means that
 * nothing of the file was shown.
 */
export interface SearchPosition {
  readonly path: ByteString;
  readonly line: number;
  /** Last matching line of the file. Set only if some context lines after it have not been shown yet. */
  readonly match?: number;
}

export interface SearchQuery {
  readonly pattern: LineMatcher;
  /** Pathspec that selects the files to search; undefined for all files. */
  readonly selects?: PathMatcher | undefined;
  /** Number of context lines before and after each match. The default is 0. */
  readonly before?: number | undefined;
  readonly after?: number | undefined;
  readonly startAfter?: SearchPosition | undefined;
}

/** Limits of one page of results. All are at least 1. */
export interface SearchLimits {
  readonly maxMatches: number;
  readonly maxMatchesPerFile: number;
  /** Maximum number of lines. Matching lines and context lines both count. */
  readonly maxLines: number;
  /** Maximum number of characters in all lines of the page. The first line is included even if it is longer. */
  readonly maxCharacters?: number | undefined;
}

export interface FileMatches {
  readonly path: ByteString;
  readonly lines: readonly FoundLine[];
}

export interface SearchPage {
  readonly files: readonly FileMatches[];
  /** Position where the next page of results starts; undefined if the search is complete. */
  readonly next?: SearchPosition;
}

/**
 * Number of files that are read together: `FIRST_FILES` at first, doubled each time, `MAX_FILES` at most. A page
 * therefore reads at most about twice as many files as it needs.
 */
const FIRST_FILES = 16;
const MAX_FILES = 512;
/** Total size in bytes after which no further file is read together with the others. The last file may exceed it. */
const MAX_BYTES = 4 << 20;

/**
 * Searches the files of a tree and adds matches to `result`. If the page is full and more matches may follow, returns
 * the position where the next page starts. Returns undefined at the end of the tree.
 */
async function search(
  cache: TextCache,
  tree: Oid,
  query: SearchQuery,
  limits: SearchLimits,
  meter: Meter,
  result: FileMatches[],
): Promise<SearchPosition | undefined> {
  const { pattern: matcher, selects, startAfter } = query;
  const { paths, numbers } = await cache.listing(tree, meter);
  let matches = limits.maxMatches;
  let lines = limits.maxLines;
  let characters = limits.maxCharacters ?? requestLimit('grepCharacters');
  cache.begin();
  const work = new SmallSteps(meter);
  const { first, isExact } = await runYielding(placeOf(paths, startAfter?.path ?? NO_BYTES), meter);
  const selected = new PathCursor(paths, selects);
  const shown = new PathCursor(paths);
  let room = FIRST_FILES;
  for (let at = first; at < paths.length; ) {
    // If the previous page ended in the first file, that file is searched separately. Context lines of a match on the
    // previous page may still be missing.
    const isResumed = at === first && isExact;
    const files: number[] = [];
    for (let bytes = 0; at < paths.length && files.length < room && bytes < MAX_BYTES; at++) {
      if (work.report(COST.entry)) await meter.yieldToEventLoop();
      if (selects !== undefined) {
        const isChosen = selected.tryMoveTo(at);
        meter.spend(selects.takeSpent());
        if (!(isChosen ?? (await runYielding(selected.moveTo(at), meter)))) {
          if (isResumed) break;
          continue;
        }
      }
      files.push(at);
      bytes += cache.sizeOf(numbers[at]!);
      if (isResumed) break;
    }
    if (isResumed) at = first + 1;
    else room = Math.min(room * 2, MAX_FILES);
    const needle = isResumed ? undefined : matcher.needle;
    const texts = await cache.texts(
      files.map((file) => numbers[file]!),
      meter,
    );
    for (let index = 0; index < texts.length; index++) {
      const file = texts[index];
      if (file === undefined || (needle !== undefined && file.lacks(needle))) continue;
      const bounds = {
        seen: isResumed ? { line: startAfter!.line, match: startAfter!.match ?? 0 } : { line: 0, match: 0 },
        before: query.before ?? 0,
        after: query.after ?? 0,
        maxMatches: Math.min(limits.maxMatchesPerFile, matches),
        maxLines: lines,
        maxCharacters: characters,
        isFirst: lines === limits.maxLines,
      };
      const found = await work.run(searchFile(file, matcher, bounds));
      file.trim();
      if (found.lines.length > 0 || found.next !== undefined) {
        await runYielding(shown.moveTo(files[index]!), meter);
        const { path } = shown;
        if (found.lines.length > 0) result.push({ path, lines: found.lines });
        if (found.next !== undefined) return positionAt(path, found.next, bounds.after);
      }
      matches -= found.matches;
      lines -= found.lines.length;
      characters -= found.characters;
    }
  }
  return undefined;
}

/**
 * Adds up the cost of many small pieces of work before it is reported to the meter, which counts the CPU work of a
 * request. Reporting each piece would cost more than the piece itself.
 */
class SmallSteps {
  #unreported = 0;

  constructor(private readonly meter: Meter) {}

  /** Adds work units. Returns true if the caller should yield to the event loop. */
  report(units: number): boolean {
    this.#unreported += units;
    if (this.#unreported < PIECE_COST) return false;
    this.meter.spend(this.#unreported);
    this.#unreported = 0;
    return this.meter.shouldYield;
  }

  async run<T>(steps: Steps<T>): Promise<T> {
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
      if (this.report(step.value)) await this.meter.yieldToEventLoop();
    }
  }
}

/**
 * Returns the position for the next page. It includes the last match only if some context lines after it have not been
 * shown yet.
 */
function positionAt(path: ByteString, { line, match }: FilePosition, after: number): SearchPosition {
  return match > 0 && line < match + after ? { path, line, match } : { path, line };
}

/**
 * Searches the regular files of a tree line by line, as `git grep -n -B -A` does, and returns one page of results. The
 * files are in the order of Git's index. Binary files (a NUL in the first 8000 bytes) and large files are skipped.
 *
 * If the CPU limit is reached after the page was filled, the page is returned, although more results may or may not
 * follow. Otherwise throws `WorkLimitExceeded`, or the abort reason of the meter's signal.
 */
export async function searchPage(
  cache: TextCache,
  tree: Oid,
  query: SearchQuery,
  limits: SearchLimits,
  meter: Meter,
): Promise<SearchPage> {
  const files: FileMatches[] = [];
  try {
    const next = await search(cache, tree, query, limits, meter, files);
    return next === undefined ? { files } : { files, next };
  } catch (error) {
    const last = files.at(-1);
    if (!(error instanceof WorkLimitExceeded) || last === undefined || !isFull(files, limits)) throw error;
    // The work limit was reached in a later file, so the last file of the page was searched completely. The next page
    // can start after its last shown line.
    return { files, next: { path: last.path, line: last.lines.at(-1)!.number } };
  }
}

function isFull(files: readonly FileMatches[], limits: SearchLimits): boolean {
  const lines = files.flatMap((file) => file.lines);
  return lines.length >= limits.maxLines || lines.filter((line) => line.type === 'match').length >= limits.maxMatches;
}

/**
 * Finds `path` in the sorted list. `first` is the index of the first path equal to or after `path` in byte order.
 * `isExact` is true if that path is equal.
 */
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
