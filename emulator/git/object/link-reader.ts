import type { Steps } from '../../schedule/steps.js';
import type { ObjectReader } from './object.js';
import type { TreeEntries } from './tree-entries.js';
import type { TreeNames } from './tree-names.js';

/** What a commit says, by object number. Times are seconds since 1970. */
export interface CommitRecord {
  readonly tree: number;
  readonly parents: readonly number[];
  readonly authoredAt: number;
  readonly committedAt: number;
}

/** A tree that was told by the difference from another. */
export interface TreeDifference {
  /** All entries that are not its own are entries of this tree, which may have more. */
  readonly base: number;
  /** Calls `visit` with its own entries: keys and objects, in `cells` from `start` to `end`. */
  eachOwn(visit: (cells: Int32Array, start: number, end: number) => void): void;
}

/** Reads what objects point at, by number. */
export interface LinkReader extends ObjectReader {
  /** What the keys of entries mean. */
  readonly names: TreeNames;
  /** The entries of a tree. Throws `MalformedObject`. */
  entriesOf(tree: number): Steps<TreeEntries>;
  /** How a tree differs from another one, where that was noted. */
  differenceOf(tree: number): TreeDifference | undefined;
  /** Whether it was noted what the object points at. */
  hasRecord(object: number): boolean;
  /** What a commit says, where that was noted. */
  recordOf(commit: number): CommitRecord | undefined;
}
