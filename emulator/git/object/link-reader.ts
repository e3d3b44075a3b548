import type { Steps } from '../../schedule/steps.js';
import type { ObjectReader } from './object.js';
import type { TreeEntries } from './tree-entries.js';
import type { TreeNames } from './tree-names.js';

/**
 * Decoded commit: its tree and parents as object numbers (index in the tables of the store), and its times in seconds
 * since 1970.
 */
export interface CommitRecord {
  readonly tree: number;
  readonly parents: readonly number[];
  readonly authoredAt: number;
  readonly committedAt: number;
}

/** Difference of a tree from a base tree, known because the tree was received as a delta. */
export interface TreeDifference {
  /**
   * Object number of the base tree. Every entry of the tree that is not in the difference is also an entry of the base
   * tree. The base tree may have more entries.
   */
  readonly base: number;
  /**
   * Calls `visit` for each run of entries of the difference: pairs of key (name and mode) and object number in `cells`
   * from `start` to `end` (exclusive).
   */
  eachOwn(visit: (cells: Int32Array, start: number, end: number) => void): void;
}

/**
 * Object reader that also returns decoded commits and trees, which refer to other objects by object number instead of
 * id. They were recorded when the objects were received ("link records"), so reading them does not inflate objects.
 */
export interface LinkReader extends ObjectReader {
  /** Table from the key of a tree entry to its name and mode. */
  readonly names: TreeNames;
  /** Returns the decoded entries of a tree. Throws `MalformedObject`. */
  entriesOf(tree: number): Steps<TreeEntries>;
  /** Returns the recorded difference of a tree from its delta base, or undefined if it was not recorded. */
  differenceOf(tree: number): TreeDifference | undefined;
  /** Returns true if the commit or tree was recorded in decoded form. */
  hasRecord(object: number): boolean;
  /** Returns the recorded decoded commit, or undefined if it was not recorded and must be parsed. */
  recordOf(commit: number): CommitRecord | undefined;
}
