import { COST } from '../../schedule/cost.js';
import type { Meter } from '../../schedule/meter.js';
import { runYielding, type Steps } from '../../schedule/steps.js';
import { requestLimit } from '../limits/request-limits.js';
import type { ByteString } from '../object/bytes.js';
import type { ObjectReader } from '../object/object.js';
import { nameOf } from '../object/path.js';
import type { PathEntry } from '../object/tree.js';
import { type Match, matchEqual, NAMESAKE_MINIMUM_SCORE, SimilarContents } from './similar-contents.js';
import type { TreeChange } from './trees.js';

/** Change of a file between two trees. A deleted path and an added path that Git considers a rename are one change. */
export interface FileChange extends TreeChange {
  /**
   * Similarity of the old and the new file of a rename, from 0 (different) to 60,000 (equal). Undefined if the change
   * is not a rename.
   */
  readonly score?: number;
}

export interface RenameOptions {
  /**
   * Current path of a file whose history is followed. Only the rename that led to this path is detected. All other
   * added files are reported as added.
   */
  readonly follow?: ByteString;
  readonly meter: Meter;
}

/** Number of files processed between two yields to the event loop. */
const UNIT = 1024;
const MAX_FILES = requestLimit('diffRenames');

/**
 * Pairs deleted and added files with similar content as renames, as `git diff -M` does. The result is ordered by the
 * path after the change.
 *
 * There are three passes. The first pairs files with equal content. The second pairs files whose name occurs only once
 * on each side, if they are at least 75 percent similar. The third pairs the most similar of the remaining files.
 */
export async function detectRenames(
  objects: ObjectReader,
  changes: readonly TreeChange[],
  options: RenameOptions,
): Promise<readonly FileChange[]> {
  return runYielding(renameSteps(objects, changes, options), options.meter);
}

function* renameSteps(
  objects: ObjectReader,
  changes: readonly TreeChange[],
  options: RenameOptions,
): Steps<readonly FileChange[]> {
  const sources: PathEntry[] = [];
  const targets: PathEntry[] = [];
  for (const [index, { before, after }] of changes.entries()) {
    if (index % UNIT === UNIT - 1) yield UNIT * COST.entry;
    if (before && !after) sources.push(before);
    if (after && !before && (options.follow ?? after.path) === after.path) targets.push(after);
  }
  if (sources.length === 0 || targets.length === 0) return changes;

  const matching = new Matching(objects, sources, targets);
  yield* matching.matchEqual();
  yield* matching.matchNamesakes();
  yield* matching.matchSimilar();
  return yield* matching.apply(changes);
}

class Matching {
  readonly #usedSources = new Set<number>();
  /** Renames found so far. The key is the index of the added file in `targets`. */
  readonly #matches = new Map<number, Match>();
  readonly #contents: SimilarContents;

  constructor(
    objects: ObjectReader,
    private readonly sources: readonly PathEntry[],
    private readonly targets: readonly PathEntry[],
  ) {
    this.#contents = new SimilarContents(objects);
  }

  *matchEqual(): Steps<void> {
    for (const match of yield* matchEqual(this.sources, this.targets)) this.#match(match);
  }

  *matchNamesakes(): Steps<void> {
    const sourceNames = yield* uniqueNames(this.sources, (index) => this.#usedSources.has(index));
    const targetNames = yield* uniqueNames(this.targets, (index) => this.#matches.has(index));
    for (const [name, source] of sourceNames) {
      yield 1;
      const target = targetNames.get(name) ?? -1;
      if (source < 0 || target < 0) continue;
      const score = yield* this.#contents.score(this.sources[source]!, this.targets[target]!, NAMESAKE_MINIMUM_SCORE);
      if (score >= NAMESAKE_MINIMUM_SCORE) this.#match({ source, target, score });
    }
  }

  *matchSimilar(): Steps<void> {
    const sources = [...this.sources.keys()].filter((index) => !this.#usedSources.has(index));
    const targets = [...this.targets.keys()].filter((index) => !this.#matches.has(index));
    const matches = yield* this.#contents.match(
      sources.map((index) => this.sources[index]!),
      targets.map((index) => this.targets[index]!),
      MAX_FILES,
    );
    for (const { source, target, score } of matches) {
      this.#match({ source: sources[source]!, target: targets[target]!, score });
    }
  }

  *apply(changes: readonly TreeChange[]): Steps<FileChange[]> {
    const result: FileChange[] = [];
    // Sources, targets and changes have the same order. One index into each list is therefore enough to find the files
    // of a change.
    let [source, target] = [0, 0];
    for (const [index, change] of changes.entries()) {
      if (index % UNIT === UNIT - 1) yield UNIT * COST.entry;
      const isSource = change.before !== undefined && change.before === this.sources[source];
      const isTarget = change.after !== undefined && change.after === this.targets[target];
      const match = isTarget ? this.#matches.get(target) : undefined;
      if (match) result.push({ before: this.sources[match.source]!, after: change.after!, score: match.score });
      else if (!(isSource && this.#usedSources.has(source))) result.push(change);
      if (isSource) source++;
      if (isTarget) target++;
    }
    return result;
  }

  #match(match: Match): void {
    this.#usedSources.add(match.source);
    this.#matches.set(match.target, match);
  }
}

/**
 * Returns a map from file names without folders to the index of the file with this name. The index is -1 if several
 * files have the name.
 */
function* uniqueNames(
  sides: readonly PathEntry[],
  isTaken: (index: number) => boolean,
): Steps<Map<ByteString, number>> {
  const names = new Map<ByteString, number>();
  for (const [index, { path }] of sides.entries()) {
    if (index % UNIT === UNIT - 1) yield UNIT * COST.entry;
    if (isTaken(index)) continue;
    const name = nameOf(path);
    names.set(name, names.has(name) ? -1 : index);
  }
  return names;
}
