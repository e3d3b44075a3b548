import { SortedRecords } from './sorted-records.js';

/** Git LFS lock: it forbids other users to push changes of one file. */
export interface LfsLock {
  readonly id: string;
  /** Path of the locked file, relative to the root of the work tree. */
  readonly path: string;
  /** Name of the user in the claim `sub` of the token with which the lock was created. */
  readonly owner: string;
  /** Time of creation in milliseconds on the emulator's clock. */
  readonly lockedAt: number;
}

/** Git LFS locks of one repository by path. A path has at most one lock, which applies to all branches. */
export type LfsLocks = SortedRecords<string, LfsLock>;

export const NO_LOCKS: LfsLocks = new SortedRecords(({ path }) => path);
