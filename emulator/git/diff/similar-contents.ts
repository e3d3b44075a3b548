import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import { BLOB, numberOf, type ObjectReader, type Oid } from '../object/object.js';
import { hashObject } from '../object/object-hash.js';
import { nameOf } from '../object/path.js';
import { isRegular, type PathEntry } from '../object/tree.js';
import { canReach, FULL_SCORE, type Spans, similarity, spansOf } from './similarity.js';

/** The least score of a rename, and of one between files that alone bear their name. */
const MINIMUM_SCORE = FULL_SCORE / 2;
export const NAMESAKE_MINIMUM_SCORE = MINIMUM_SCORE + (FULL_SCORE - MINIMUM_SCORE) / 2;
/** The empty file, which is no evidence of a rename. */
export const EMPTY_BLOB = hashObject(BLOB, Buffer.alloc(0));

/** A deleted and an added file, by index, that are one. */
export interface Match {
  readonly source: number;
  readonly target: number;
  /** 0 to 60,000. */
  readonly score: number;
}

/** Files looked at between two steps. */
const UNIT = 1024;
/** So many files of one content are looked at for the best namesake. */
const SAME_CONTENT = 100;

/** Equal files: each target gets the first source that is left and has its name, or the first that is left. In steps. */
export function* matchEqual(sources: readonly PathEntry[], targets: readonly PathEntry[]): Steps<Match[]> {
  // The first source is last in its list: what is taken is always near the end, and cheap to take.
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

/** Equal for what holds the same: of regular files, the x bit does not matter. */
function contentKey({ mode, oid }: PathEntry): string {
  return isRegular(mode) ? oid : `${oid} ${mode}`;
}

function isNamesake(a: PathEntry, b: PathEntry): boolean {
  return nameOf(a.path) === nameOf(b.path);
}

/** Scores how alike stored files are; each is read once. */
export class SimilarContents {
  readonly #spans = new Map<Oid, Spans>();

  constructor(private readonly objects: ObjectReader) {}

  /** Whatever is most alike, each file once; as in Git, none when there are more than `most` squared to compare. */
  *match(sources: readonly PathEntry[], targets: readonly PathEntry[], most: number): Steps<Match[]> {
    if (sources.length * targets.length > most * most) return [];
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

  /** The score of two files, 0 if it is sure to be below `minimum`. In steps. */
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

/** How many sources are kept in mind for each target. */
const CANDIDATES = 4;

interface Candidate extends Match {
  readonly isNamesake: boolean;
}

function compareCandidates(a: Candidate, b: Candidate): number {
  return b.score - a.score || Number(b.isNamesake) - Number(a.isNamesake);
}

/** Puts `candidate` in the place of the worst of the four, the first of equally bad ones, if it is better. */
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
