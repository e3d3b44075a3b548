import type { Steps } from '../../schedule/steps.js';
import type { ObjectReader } from './object.js';
import type { TreeEntries } from './tree-entries.js';
import type { TreeNames } from './tree-names.js';

/** Links and times of a commit, by object number. Times are in seconds since 1970. */
export interface CommitRecord {
  readonly tree: number;
  readonly parents: readonly number[];
  readonly authoredAt: number;
  readonly committedAt: number;
}

/** Delta of a tree: its difference from a base tree. */
export interface TreeDifference {
  /**
   * Object number of the base tree. Every entry that is not in the delta is an entry of the base tree. The base tree
   * may have more entries.
   */
  readonly base: number;
  /** Calls `visit` with the entries of the delta: pairs of key and object in `cells` from `start` to `end`. */
  eachOwn(visit: (cells: Int32Array, start: number, end: number) => void): void;
}

/** Object reader that also returns the links of objects by object number. */
export interface LinkReader extends ObjectReader {
  /** Name table that resolves the keys of entries. */
  readonly names: TreeNames;
  /** Returns the entries of a tree. Throws `MalformedObject`. */
  entriesOf(tree: number): Steps<TreeEntries>;
  /** Returns the recorded delta of a tree, or undefined if none was recorded. */
  differenceOf(tree: number): TreeDifference | undefined;
  /** Returns true if the links of the object were recorded. */
  hasRecord(object: number): boolean;
  /** Returns the recorded links and times of a commit, or undefined if none were recorded. */
  recordOf(commit: number): CommitRecord | undefined;
}
