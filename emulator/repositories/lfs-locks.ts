import { SortedRecords } from './sorted-records.js';

/** One file that one person has to themselves. */
export interface LfsLock {
  readonly id: string;
  /** Relative to the root of the work tree. */
  readonly path: string;
  /** Who asked for it: the `sub` of their token. */
  readonly owner: string;
  /** Milliseconds on the world's clock. */
  readonly lockedAt: number;
}

/** The locks of one repository by path. A path has one lock, whatever the branch. */
export type LfsLocks = SortedRecords<string, LfsLock>;

export const NO_LOCKS: LfsLocks = new SortedRecords(({ path }) => path);
