import type { Steps } from '../../schedule/steps.js';
import { BLOB, numberOf, type ObjectReader, type Oid } from '../object/object.js';
import { hashObject } from '../object/object-hash.js';
import { isRegular } from '../object/tree.js';
import { canReach, FULL_SCORE, type Spans, similarity, spansOf } from './similarity.js';

/** The least score of a rename, and of one between files that alone bear their name. */
export const MINIMUM_SCORE = FULL_SCORE / 2;
export const NAMESAKE_MINIMUM_SCORE = MINIMUM_SCORE + (FULL_SCORE - MINIMUM_SCORE) / 2;
/** The empty file, which is no evidence of a rename. */
export const EMPTY_BLOB = hashObject(BLOB, Buffer.alloc(0));

/** Equal for what holds the same: of regular files, the x bit does not matter. */
export function contentKey({ mode, oid }: { readonly mode: number; readonly oid: Oid }): string {
  return isRegular(mode) ? oid : `${oid} ${mode}`;
}

/** Scores how alike stored files are; each is read once. */
export class SimilarContents {
  readonly #spans = new Map<Oid, Spans>();

  constructor(private readonly objects: ObjectReader) {}

  /** The score of two files, 0 if it is sure to be below `minimum`. In steps. */
  *score(source: Oid, target: Oid, minimum: number): Steps<number> {
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

/** A deleted and an added file, by index, that may be one. */
export interface Candidate {
  readonly source: number;
  readonly target: number;
  readonly score: number;
  readonly isNamesake: boolean;
}

export function compareCandidates(a: Candidate, b: Candidate): number {
  return b.score - a.score || Number(b.isNamesake) - Number(a.isNamesake);
}

/** Puts `candidate` in the place of the worst of the four, the first of equally bad ones, if it is better. */
export function keepBest(best: Candidate[], candidate: Candidate): void {
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

/** So many files of one content are looked at for the best namesake. */
const SAME_CONTENT = 100;

/**
 * Takes from `same`, files of one content with the first of them last, the first one that `isNamesake`; if none is,
 * the first one.
 */
export function takeEqual<T>(same: T[], isNamesake: (file: T) => boolean): T {
  const last = same.length - 1;
  let at = last;
  while (at >= 0 && last - at < SAME_CONTENT && !isNamesake(same[at]!)) at--;
  const isFound = at >= 0 && last - at < SAME_CONTENT;
  return same.splice(isFound ? at : last, 1)[0]!;
}
