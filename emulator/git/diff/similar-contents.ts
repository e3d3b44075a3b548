import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import { BLOB, numberOf, type ObjectReader, type Oid } from '../object/object.js';
import { hashObject } from '../object/object-hash.js';
import { nameOf } from '../object/path.js';
import { isRegular, type PathEntry } from '../object/tree.js';
import { canReach, FULL_SCORE, type Spans, similarity, spansOf } from './similarity.js';

/**
 * Minimum similarity scores of a rename. `MINIMUM_SCORE` (50 percent) applies to any two files.
 * `NAMESAKE_MINIMUM_SCORE` (75 percent) applies to two files that are paired because they are the only ones with their
 * name.
 */
const MINIMUM_SCORE = FULL_SCORE / 2;
export const NAMESAKE_MINIMUM_SCORE = MINIMUM_SCORE + (FULL_SCORE - MINIMUM_SCORE) / 2;
/**
 * Object id of the empty file. An empty file is never part of a rename, because its content does not show where it came
 * from.
 */
export const EMPTY_BLOB = hashObject(BLOB, Buffer.alloc(0));

/**
 * Rename of a deleted file to an added file. `source` and `target` are their indexes in the lists of deleted and added
 * files.
 */
export interface Match {
  readonly source: number;
  readonly target: number;
  /** Similarity of the two files, from 0 (different) to 60,000 (equal). */
  readonly score: number;
}

/** Number of files processed between two yields to the event loop. */
const UNIT = 1024;
/**
 * Maximum number of deleted files with equal content that are searched for one with the added file's name. The limit
 * bounds the time for many equal files.
 */
const SAME_CONTENT = 100;

/**
 * Pairs deleted files (`sources`) with added files (`targets`) of equal content. Each target gets the first unused
 * source with its file name, or else the first unused source.
 */
export function* matchEqual(sources: readonly PathEntry[], targets: readonly PathEntry[]): Steps<Match[]> {
  // Unused sources by content. Each list is in reverse order: the next source to use is near the end, where removal is
  // cheap.
  const unused = new Map<string, number[]>();
  for (let index = sources.length - 1; index >= 0; index--) {
    if (index % UNIT === 0) yield UNIT * COST.entry;
    const key = contentKey(sources[index]!);
    const same = unused.get(key);
    if (same) same.push(index);
    else unused.set(key, [index]);
  }
  const matches: Match[] = [];
  for (const [target, file] of targets.entries()) {
    if (target % UNIT === 0) yield UNIT * COST.entry;
    const same = unused.get(contentKey(file));
    if (!same?.length) continue;
    const last = same.length - 1;
    let at = last;
    while (at >= 0 && last - at < SAME_CONTENT && !isNamesake(sources[same[at]!]!, file)) at--;
    const isFound = at >= 0 && last - at < SAME_CONTENT;
    matches.push({ source: same.splice(isFound ? at : last, 1)[0]!, target, score: FULL_SCORE });
  }
  return matches;
}

/**
 * Returns a key that is equal for files with equal content and type. Executable and other regular files count as one
 * type.
 */
function contentKey({ mode, oid }: PathEntry): string {
  return isRegular(mode) ? oid : `${oid} ${mode}`;
}

function isNamesake(a: PathEntry, b: PathEntry): boolean {
  return nameOf(a.path) === nameOf(b.path);
}

/** Computes similarity scores of stored files. Each file is read only once, because its chunks are cached. */
export class SimilarContents {
  readonly #spans = new Map<Oid, Spans>();

  constructor(private readonly objects: ObjectReader) {}

  /**
   * Pairs the most similar files. Each file occurs in at most one pair. As in Git, there are no pairs if more than `max
   * * max` comparisons would be needed.
   */
  *match(sources: readonly PathEntry[], targets: readonly PathEntry[], max: number): Steps<Match[]> {
    if (sources.length * targets.length > max * max) return [];
    const candidates: Candidate[] = [];
    for (const [target, after] of targets.entries()) {
      const best: Candidate[] = [];
      for (const [source, before] of sources.entries()) {
        const score = yield* this.score(before, after, MINIMUM_SCORE);
        keepBest(best, { source, target, score, isNamesake: isNamesake(before, after) });
        yield 1;
      }
      for (const candidate of best) if (candidate.score >= MINIMUM_SCORE) candidates.push(candidate);
    }
    const [usedSources, usedTargets] = [new Set<number>(), new Set<number>()];
    return candidates.sort(compareCandidates).filter(({ source, target }) => {
      if (usedSources.has(source) || usedTargets.has(target)) return false;
      usedSources.add(source);
      usedTargets.add(target);
      return true;
    });
  }

  /**
   * Returns the similarity score of two files. Returns 0 if one of them is not a regular file. Also returns 0 if their
   * sizes already show that the score is below `minimum`.
   */
  *score({ oid: source, mode }: PathEntry, { oid: target, mode: next }: PathEntry, minimum: number): Steps<number> {
    if (!isRegular(mode) || !isRegular(next)) return 0;
    const sourceSize = this.objects.sizeOf(numberOf(this.objects, source));
    const targetSize = this.objects.sizeOf(numberOf(this.objects, target));
    if (!canReach(minimum, sourceSize, targetSize)) return 0;
    const [before, after] = [yield* this.#spansOf(source), yield* this.#spansOf(target)];
    return similarity(before, after, sourceSize, targetSize);
  }

  *#spansOf(oid: Oid): Steps<Spans> {
    let spans = this.#spans.get(oid);
    if (!spans) {
      spans = yield* spansOf(this.objects.read(numberOf(this.objects, oid)));
      this.#spans.set(oid, spans);
    }
    return spans;
  }
}

/** Maximum number of candidates that are kept for each added file: the deleted files most similar to it. */
const CANDIDATES = 4;

interface Candidate extends Match {
  readonly isNamesake: boolean;
}

function compareCandidates(a: Candidate, b: Candidate): number {
  return b.score - a.score || Number(b.isNamesake) - Number(a.isNamesake);
}

/**
 * Adds a candidate to the list `best`. If the list is full, a better candidate replaces the worst item. Of several
 * equally bad items, the first is replaced.
 */
function keepBest(best: Candidate[], candidate: Candidate): void {
  if (best.length < CANDIDATES) {
    best.push(candidate);
    return;
  }
  let worst = 0;
  for (let at = 1; at < CANDIDATES; at++) {
    if (compareCandidates(best[at]!, best[worst]!) > 0) worst = at;
  }
  if (compareCandidates(best[worst]!, candidate) > 0) best[worst] = candidate;
}
