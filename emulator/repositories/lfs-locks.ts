import { SortedRecords } from './sorted-records.js';

/** Lock of one file by one user. */
export interface LfsLock {
  readonly id: string;
  /** Path relative to the root of the work tree. */
  readonly path: string;
  /** The `sub` of the token that created the lock. */
  readonly owner: string;
  /** Milliseconds on the world's clock. */
  readonly lockedAt: number;
}

/** Locks of one repository by path. A path has at most one lock, for all branches. */
export type LfsLocks = SortedRecords<string, LfsLock>;

export const NO_LOCKS: LfsLocks = new SortedRecords(({ path }) => path);
