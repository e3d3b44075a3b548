import type { Steps } from '../../schedule/steps.js';
import type { ObjectReader } from './object.js';
import type { TreeEntries } from './tree-entries.js';
import type { TreeNames } from './tree-names.js';

/**
 * Decoded commit. `tree` and `parents` are object numbers (index in the tables of the store). Times are in seconds
 * since 1970.
 */
export interface CommitRecord {
  readonly tree: number;
  readonly parents: readonly number[];
  readonly authoredAt: number;
  readonly committedAt: number;
}

/** Difference between a tree and its base tree. It is recorded only for a tree that was received as a delta. */
export interface TreeDifference {
  /**
   * Object number of the base tree. Every entry of the tree that is not in the difference is also in the base tree. The
   * base tree may contain further entries.
   */
  readonly base: number;
  /**
   * Calls `visit` for each run of entries in the difference. A run is the part of `cells` from `start` to `end`
   * (exclusive). Each entry takes two cells: the key, which stands for name and mode, and the object number.
   */
  eachOwn(visit: (cells: Int32Array, start: number, end: number) => void): void;
}

/**
 * Object reader that also returns commits and trees in decoded form. Decoded objects refer to each other by object
 * number instead of id. They were stored when the objects were received ("link records"), so no object is inflated to
 * read them.
 */
export interface LinkReader extends ObjectReader {
  /** Table that maps the key of a tree entry to its name and mode. */
  readonly names: TreeNames;
  /** Returns the decoded entries of a tree. Throws `MalformedObject` if the tree is malformed. */
  entriesOf(tree: number): Steps<TreeEntries>;
  /**
   * Returns the difference of a tree from the base of the delta in which it was received; undefined if it was not
   * recorded.
   */
  differenceOf(tree: number): TreeDifference | undefined;
  /** Returns true if the object is a commit or tree whose decoded form is stored. */
  hasRecord(object: number): boolean;
  /**
   * Returns the stored decoded form of a commit. Returns undefined if absent; the caller must then parse the
   * commit.
   */
  recordOf(commit: number): CommitRecord | undefined;
}
