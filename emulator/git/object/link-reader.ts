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

/** Difference between a tree and its base tree. Known if the tree was received as a delta. */
export interface TreeDifference {
  /**
   * Object number of the base tree. Every entry that is not in the difference is also in the base tree. The base tree
   * may have further entries.
   */
  readonly base: number;
  /**
   * Calls `visit` for each run of entries in the difference. The entries are pairs of key (stands for name and mode)
   * and object number in `cells`, from `start` to `end` (exclusive).
   */
  eachOwn(visit: (cells: Int32Array, start: number, end: number) => void): void;
}

/**
 * Object reader that also returns commits and trees in decoded form, in which they refer to other objects by object
 * number instead of id. The decoded forms ("link records") were stored when the objects were received, so no object is
 * inflated to read them.
 */
export interface LinkReader extends ObjectReader {
  /** Table that maps the key of a tree entry to its name and mode. */
  readonly names: TreeNames;
  /** Returns the decoded entries of a tree. Throws `MalformedObject`. */
  entriesOf(tree: number): Steps<TreeEntries>;
  /** Returns the recorded difference of a tree from its delta base, or undefined if it was not recorded. */
  differenceOf(tree: number): TreeDifference | undefined;
  /** Returns true if the commit or tree was recorded in decoded form. */
  hasRecord(object: number): boolean;
  /**
   * Returns the decoded commit that was recorded when it was received; undefined if none was recorded, so that the
   * commit must be parsed.
   */
  recordOf(commit: number): CommitRecord | undefined;
}
