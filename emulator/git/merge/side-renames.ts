import type { Meter } from '../../schedule/meter.js';
import { inSlices, type Steps } from '../../schedule/steps.js';
import {
  type Candidate,
  compareCandidates,
  contentKey,
  EMPTY_BLOB,
  keepBest,
  MINIMUM_SCORE,
  NAMESAKE_MINIMUM_SCORE,
  SimilarContents,
  takeEqual,
} from '../diff/similar-contents.js';
import { requestLimit } from '../limits/request-limits.js';
import type { ByteString } from '../object/bytes.js';
import type { ObjectReader } from '../object/object.js';
import { folderOf, nameOf, pathIn } from '../object/path.js';
import { isRegular } from '../object/tree.js';
import type { FilePair, PathVersion, RenameInfo } from './collect-merge-info.js';
import { FolderRenameCounts } from './folder-rename-counts.js';

const MOST_FILES = requestLimit('mergeRenames');

/**
 * Joins what a side deleted and added to renames, as far as the merge needs to know: sources that are not
 * relevant are only used up by equal files. Counts on the way where the files of removed folders went.
 */
export async function detectSideRenames(
  objects: ObjectReader,
  changes: RenameInfo,
  meter: Meter,
): Promise<FolderRenameCounts> {
  const counts = new FolderRenameCounts(changes.removedFolders);
  if (changes.pairs.length === 0 || changes.relevantSources.size === 0) return counts;
  const detection = new Detection(objects, changes, counts);
  await inSlices(detection.run(), meter);
  changes.pairs = detection.pairs();
  return counts;
}

type Deleted = FilePair & { readonly before: PathVersion };
type Added = FilePair & { readonly after: PathVersion };

class Detection {
  /** Deleted files still to be found, and added ones; the empty file is everywhere and says nothing. */
  #sources: Deleted[];
  readonly #targets: Added[];
  readonly #used = new Set<FilePair>();
  readonly #renamed = new Set<Added>();
  readonly #contents: SimilarContents;

  constructor(
    objects: ObjectReader,
    private readonly changes: RenameInfo,
    private readonly counts: FolderRenameCounts,
  ) {
    this.#contents = new SimilarContents(objects);
    this.#sources = changes.pairs.filter(isDeleted).filter(({ before }) => before.oid !== EMPTY_BLOB);
    this.#targets = changes.pairs.filter(isAdded).filter(({ after }) => after.oid !== EMPTY_BLOB);
  }

  *run(): Steps<void> {
    if (this.#sources.length === 0 || this.#targets.length === 0) return;
    this.#matchEqual();
    this.#cull(() => true);
    yield* this.#matchNamesakes();
    this.#cull(({ before }) => this.changes.relevantSources.has(before.path));
    this.#cullKnown();
    yield* this.#matchSimilar();
  }

  /** The pairs, with renames in the place of the added files. */
  pairs(): FilePair[] {
    return this.changes.pairs.filter((pair) => !this.#used.has(pair));
  }

  #match(source: Deleted, target: Added): void {
    target.before = source.before;
    this.#used.add(source);
    this.#renamed.add(target);
    this.counts.add(source.before.path, target.after.path);
  }

  #cull(isKept: (source: Deleted) => boolean): void {
    this.#sources = this.#sources.filter((source) => !this.#used.has(source) && isKept(source));
  }

  #matchEqual(): void {
    const unused = new Map<string, Deleted[]>();
    for (const source of this.#sources.toReversed()) {
      const same = unused.get(contentKey(source.before));
      if (same) same.push(source);
      else unused.set(contentKey(source.before), [source]);
    }
    for (const target of this.#targets) {
      const same = unused.get(contentKey(target.after));
      if (!same?.length) continue;
      const name = nameOf(target.after.path);
      this.#match(
        takeEqual(same, ({ before }) => nameOf(before.path) === name),
        target,
      );
    }
  }

  *#matchNamesakes(): Steps<void> {
    const targetOf = new Map(
      this.#targets.filter((target) => !this.#renamed.has(target)).map((target) => [target.after.path, target]),
    );
    const guesses = this.counts.guesses();
    const sourceNames = countNames(this.#sources.map(({ before }) => before.path));
    const byName = new Map<ByteString, Added>();
    const targetNames = countNames(targetOf.keys());
    for (const target of targetOf.values()) byName.set(nameOf(target.after.path), target);
    for (const source of this.#sources) {
      yield 1;
      const { path } = source.before;
      const name = nameOf(path);
      if (!this.changes.relevantSources.has(path) || !targetNames.has(name)) continue;
      const isUnique = sourceNames.get(name) === 1 && targetNames.get(name) === 1;
      const folder = guesses.get(folderOf(path));
      const target = isUnique
        ? byName.get(name)
        : folder === undefined
          ? undefined
          : targetOf.get(pathIn(folder, name));
      if (target === undefined || this.#renamed.has(target)) continue;
      if ((yield* this.#score(source, target, NAMESAKE_MINIMUM_SCORE)) < NAMESAKE_MINIMUM_SCORE) continue;
      this.#match(source, target);
    }
  }

  /** Drops sources that only matter for where folders went, where that is known without them. */
  #cullKnown(): void {
    const { removedFolders, relevantSources } = this.changes;
    this.counts.resolveEarly(this.#sources.map(({ before }) => before.path));
    this.#cull(({ before }) => {
      if (relevantSources.get(before.path) !== 'location') return true;
      for (let folder = folderOf(before.path); ; folder = folderOf(folder)) {
        const relevance = removedFolders.get(folder) ?? 'none';
        if (relevance !== 'ancestor') return relevance === 'self';
      }
    });
  }

  *#matchSimilar(): Steps<void> {
    const targets = this.#targets.filter((target) => !this.#renamed.has(target));
    if (targets.length * this.#sources.length > MOST_FILES * MOST_FILES) return;
    const candidates: Candidate[] = [];
    for (const [targetIndex, target] of targets.entries()) {
      const best: Candidate[] = [];
      for (const [source, pair] of this.#sources.entries()) {
        yield 1;
        const score = yield* this.#score(pair, target, MINIMUM_SCORE);
        const isNamesake = nameOf(pair.before.path) === nameOf(target.after.path);
        keepBest(best, { source, target: targetIndex, score, isNamesake });
      }
      candidates.push(...best.filter(({ score }) => score >= MINIMUM_SCORE));
    }
    candidates.sort(compareCandidates);
    for (const candidate of candidates) {
      const source = this.#sources[candidate.source]!;
      const target = targets[candidate.target]!;
      if (this.#renamed.has(target) || this.#used.has(source)) continue;
      this.#match(source, target);
    }
  }

  *#score({ before }: Deleted, { after }: Added, minimum: number): Steps<number> {
    if (!isRegular(before.mode) || !isRegular(after.mode)) return 0;
    return yield* this.#contents.score(before.oid, after.oid, minimum);
  }
}

function isDeleted(pair: FilePair): pair is Deleted {
  return pair.before !== undefined;
}

function isAdded(pair: FilePair): pair is Added {
  return pair.after !== undefined;
}

function countNames(paths: Iterable<ByteString>): Map<ByteString, number> {
  const counts = new Map<ByteString, number>();
  for (const path of paths) counts.set(nameOf(path), (counts.get(nameOf(path)) ?? 0) + 1);
  return counts;
}
