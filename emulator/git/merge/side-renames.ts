import { type Candidate, compareCandidates, keepBest, SimilarContents, takeEqual } from '../diff/similar-contents.js';
import { FULL_SCORE } from '../diff/similarity.js';
import { type ByteString, pathIn } from '../object/bytes.js';
import { BLOB, type ObjectReader } from '../object/object.js';
import { hashObject } from '../object/object-hash.js';
import type { Meter } from '../schedule/meter.js';
import { inSlices, type Steps } from '../schedule/steps.js';
import type { Pair, PathVersion, SideChanges } from './collect.js';
import { isRegular, nameOf, parentOf } from './entry.js';
import { FolderCounts } from './folder-counts.js';

const EMPTY_BLOB = hashObject(BLOB, Buffer.alloc(0));
const MINIMUM = FULL_SCORE / 2;
/** What a file has to score where its name alone makes it a candidate. */
const NAMESAKE_MINIMUM = MINIMUM + (FULL_SCORE - MINIMUM) / 2;
/** More pairs than this squared are not compared. */
const LIMIT = 7000;

/**
 * Joins what a side deleted and added to renames, as far as the merge needs to know: sources nobody asks for
 * are only used up by equal files. Counts on the way where the files of removed folders went.
 */
export async function detectSideRenames(
  objects: ObjectReader,
  changes: SideChanges,
  meter: Meter,
): Promise<FolderCounts> {
  const counts = new FolderCounts(changes.removedFolders);
  if (changes.pairs.length === 0 || changes.sources.size === 0) return counts;
  const detection = new Detection(objects, changes, counts);
  await inSlices(detection.run(), meter);
  changes.pairs = detection.pairs();
  return counts;
}

class Detection {
  /** Deleted files still to be found, and added ones; the empty file is everywhere and says nothing. */
  #sources: Pair[];
  readonly #targets: Pair[];
  readonly #used = new Set<Pair>();
  readonly #renamed = new Set<Pair>();
  readonly #contents: SimilarContents;

  constructor(
    objects: ObjectReader,
    private readonly changes: SideChanges,
    private readonly counts: FolderCounts,
  ) {
    this.#contents = new SimilarContents(objects);
    this.#sources = changes.pairs.filter(({ before }) => before !== undefined && before.oid !== EMPTY_BLOB);
    this.#targets = changes.pairs.filter(({ after }) => after !== undefined && after.oid !== EMPTY_BLOB);
  }

  *run(): Steps<void> {
    if (this.#sources.length === 0 || this.#targets.length === 0) return;
    this.#matchEqual();
    this.#cull(() => true);
    for (const { before, after } of this.#renamed) this.counts.add(before!.path, after!.path);
    yield* this.#matchNamesakes();
    this.#cull(({ before }) => this.changes.sources.has(before!.path));
    this.#cullDecided();
    yield* this.#matchSimilar();
  }

  /** The pairs, with renames in the place of the added files. */
  pairs(): Pair[] {
    return this.changes.pairs.filter((pair) => !this.#used.has(pair));
  }

  #match(source: Pair, target: Pair): void {
    target.before = source.before!;
    this.#used.add(source);
    this.#renamed.add(target);
  }

  #cull(isKept: (source: Pair) => boolean): void {
    this.#sources = this.#sources.filter((source) => !this.#used.has(source) && isKept(source));
  }

  #matchEqual(): void {
    const unused = new Map<string, Pair[]>();
    for (let index = this.#sources.length - 1; index >= 0; index--) {
      const source = this.#sources[index]!;
      const same = unused.get(contentKey(source.before!));
      if (same) same.push(source);
      else unused.set(contentKey(source.before!), [source]);
    }
    for (const target of this.#targets) {
      const same = unused.get(contentKey(target.after!));
      if (!same?.length) continue;
      const name = nameOf(target.after!.path);
      this.#match(
        takeEqual(same, ({ before }) => nameOf(before!.path) === name),
        target,
      );
    }
  }

  *#matchNamesakes(): Steps<void> {
    const targetOf = new Map(
      this.#targets.filter((target) => !this.#renamed.has(target)).map((target) => [target.after!.path, target]),
    );
    const guesses = this.counts.guesses();
    const sourceNames = countNames(this.#sources.map(({ before }) => before!.path));
    const byName = new Map<ByteString, Pair>();
    const targetNames = countNames(targetOf.keys());
    for (const target of targetOf.values()) byName.set(nameOf(target.after!.path), target);
    for (const source of this.#sources) {
      yield 1;
      const { path } = source.before!;
      const name = nameOf(path);
      if (!this.changes.sources.has(path) || !targetNames.has(name)) continue;
      const isUnique = sourceNames.get(name) === 1 && targetNames.get(name) === 1;
      const folder = guesses.get(parentOf(path));
      const target = isUnique
        ? byName.get(name)
        : folder === undefined
          ? undefined
          : targetOf.get(pathIn(folder, name));
      if (target === undefined || this.#renamed.has(target)) continue;
      if ((yield* this.#score(source, target, NAMESAKE_MINIMUM)) < NAMESAKE_MINIMUM) continue;
      this.#match(source, target);
      this.counts.add(path, target.after!.path);
    }
  }

  /** Drops sources that only matter for where folders went, where that is settled without them. */
  #cullDecided(): void {
    const { removedFolders, sources } = this.changes;
    this.counts.settle(this.#sources.map(({ before }) => before!.path));
    this.#cull(({ before }) => {
      if (sources.get(before!.path) !== 'location') return true;
      for (let folder = parentOf(before!.path); ; folder = parentOf(folder)) {
        const relevance = removedFolders.get(folder) ?? 'none';
        if (relevance !== 'ancestor') return relevance === 'self';
      }
    });
  }

  *#matchSimilar(): Steps<void> {
    const targets = this.#targets.filter((target) => !this.#renamed.has(target));
    if (targets.length * this.#sources.length > LIMIT * LIMIT) return;
    const candidates: Candidate[] = [];
    for (const [targetIndex, target] of targets.entries()) {
      const best: Candidate[] = [];
      for (const [source, pair] of this.#sources.entries()) {
        yield 1;
        const score = yield* this.#score(pair, target, MINIMUM);
        const isNamesake = nameOf(pair.before!.path) === nameOf(target.after!.path);
        keepBest(best, { source, target: targetIndex, score, isNamesake });
      }
      candidates.push(...best.filter(({ score }) => score >= MINIMUM));
    }
    candidates.sort(compareCandidates);
    for (const candidate of candidates) {
      const source = this.#sources[candidate.source]!;
      const target = targets[candidate.target]!;
      if (this.#renamed.has(target) || this.#used.has(source)) continue;
      this.#match(source, target);
      this.counts.add(source.before!.path, target.after!.path);
    }
  }

  *#score({ before }: Pair, { after }: Pair, minimum: number): Steps<number> {
    if (!isRegular(before!) || !isRegular(after!)) return 0;
    return yield* this.#contents.score(before!.oid, after!.oid, minimum);
  }
}

function contentKey(version: PathVersion): string {
  return isRegular(version) ? version.oid : `${version.oid} ${version.mode}`;
}

function countNames(paths: Iterable<ByteString>): Map<ByteString, number> {
  const counts = new Map<ByteString, number>();
  for (const path of paths) counts.set(nameOf(path), (counts.get(nameOf(path)) ?? 0) + 1);
  return counts;
}
