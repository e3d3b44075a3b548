import { COST } from '../../schedule/cost.js';
import type { Meter } from '../../schedule/meter.js';
import { runYielding } from '../../schedule/steps.js';
import type { ByteString } from '../object/bytes.js';
import type { LinkReader } from '../object/link-reader.js';
import type { Oid } from '../object/object.js';
import { FileDiff, type FileDiffOptions } from './file-diff.js';
import { PathFilter } from './path-filter.js';
import { detectRenames } from './renames.js';
import { diffTreeEntries, type TreeChange } from './trees.js';

export interface DiffOptions extends FileDiffOptions {
  readonly meter: Meter;
  /**
   * Paths to compare: files, or folders with all their files; undefined for all files. A rename is detected only if
   * both its old and new path are included.
   */
  readonly paths?: Iterable<ByteString> | undefined;
}

export interface DiffStats {
  readonly files: number;
  readonly additions: number;
  readonly deletions: number;
  /** Number of changed lines: the sum of `additions` and `deletions`. */
  readonly changes: number;
}

export interface Diff {
  /** Changed files, ordered by path. */
  readonly files: readonly FileDiff[];
  readonly stats: DiffStats;
}

/**
 * Computes the changes between two trees, as `git diff -M <before> <after>` does. `before` and `after` are object ids;
 * undefined means an empty tree. Throws `MissingObject`, `TooManyChanges` or `WorkLimitExceeded`.
 */
export async function diffTrees(
  objects: LinkReader,
  before: Oid | undefined,
  after: Oid | undefined,
  options: DiffOptions,
): Promise<Diff> {
  const { meter } = options;
  const paths = options.paths && new PathFilter(options.paths);
  const changes: TreeChange[] = [];
  for (const change of diffTreeEntries(objects, before, after, { paths })) {
    if (typeof change === 'number') meter.spend(change);
    else changes.push(change);
    if (meter.shouldYield) await meter.yieldToEventLoop();
  }
  const found = await detectRenames(objects, changes, { meter });
  const files: FileDiff[] = [];
  let additions = 0;
  let deletions = 0;
  for (const change of found) {
    const file = new FileDiff(objects, change, options);
    meter.spend(COST.object);
    await runYielding(file.compare(), meter);
    additions += file.additions;
    deletions += file.deletions;
    if (!file.isUnchanged) files.push(file);
    if (meter.shouldYield) await meter.yieldToEventLoop();
  }
  return { files, stats: { files: files.length, additions, deletions, changes: additions + deletions } };
}
