import { SortedRecords } from './sorted-records.js';

/** Git LFS lock on one file. It forbids other users to push changes of the file. */
export interface LfsLock {
  readonly id: string;
  /** Path of the locked file, relative to the root of the work tree. */
  readonly path: string;
  /** User who created the lock, from the claim `sub` of the request's token. */
  readonly owner: string;
  /** Time of creation in milliseconds on the emulator's clock. */
  readonly lockedAt: number;
}

/** Git LFS locks of one repository, by path. A path has at most one lock, which applies to all branches. */
export type LfsLocks = SortedRecords<string, LfsLock>;

export const NO_LOCKS: LfsLocks = new SortedRecords(({ path }) => path);
