import type { Meter } from '../../schedule/meter.js';
import { runYielding, type Steps } from '../../schedule/steps.js';
import { EMPTY_BLOB, matchEqual, NAMESAKE_MINIMUM_SCORE, SimilarContents } from '../diff/similar-contents.js';
import { requestLimit } from '../limits/request-limits.js';
import type { ByteString } from '../object/bytes.js';
import type { ObjectReader } from '../object/object.js';
import { folderOf, nameOf, pathIn } from '../object/path.js';
import type { FilePair, PathVersion, RenameInfo } from './collect-merge-info.js';
import { FolderRenameCounts } from './folder-rename-counts.js';

const MAX_FILES = requestLimit('mergeRenames');

/**
 * Finds renames: pairs each file that one side of a merge deleted with a similar file that this side added. The pairs
 * are stored in `changes.pairs`. Contents are compared only for deleted files that are relevant for the merge. Other
 * deleted files are only paired with files of equal content.
 *
 * Returns counts of the folders to which the files of removed folders were renamed.
 */
export async function detectSideRenames(
  objects: ObjectReader,
  changes: RenameInfo,
  meter: Meter,
): Promise<FolderRenameCounts> {
  const counts = new FolderRenameCounts(changes.removedFolders);
  if (changes.pairs.length === 0 || changes.relevantSources.size === 0) return counts;
  const detection = new Detection(objects, changes, counts);
  await runYielding(detection.run(), meter);
  changes.pairs = detection.pairs();
  return counts;
}

type Deleted = FilePair & { readonly before: PathVersion };
type Added = FilePair & { readonly after: PathVersion };

class Detection {
  /**
   * Files of one side: deleted files whose new path is not known yet (`#sources`), and added files (`#targets`). Empty
   * files are left out, because equal content says nothing about their origin.
   */
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
    yield* this.#matchEqual();
    this.#cull(() => true);
    yield* this.#matchNamesakes();
    this.#cull(({ before }) => this.changes.relevantSources.has(before.path));
    this.#cullKnown();
    yield* this.#matchSimilar();
  }

  /** Returns the changed files. A detected rename is one item with the deleted and the added file. */
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

  *#matchEqual(): Steps<void> {
    const matches = yield* matchEqual(this.#sources.map(before), this.#targets.map(after));
    for (const { source, target } of matches) this.#match(this.#sources[source]!, this.#targets[target]!);
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
      const score = yield* this.#contents.score(source.before, target.after, NAMESAKE_MINIMUM_SCORE);
      if (score >= NAMESAKE_MINIMUM_SCORE) this.#match(source, target);
    }
  }

  /** Removes deleted files that matter only for the new path of a folder (`location`), once this new path is known. */
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
    const [sources, targets] = [this.#sources, this.#targets.filter((target) => !this.#renamed.has(target))];
    const matches = yield* this.#contents.match(sources.map(before), targets.map(after), MAX_FILES);
    for (const { source, target } of matches) this.#match(sources[source]!, targets[target]!);
  }
}

const before = (pair: Deleted) => pair.before;
const after = (pair: Added) => pair.after;

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
