import type { ByteString } from '../object/bytes.js';
import { type Oid, ZERO_OID } from '../object/object.js';
import { fileType } from '../object/tree.js';

/** Mode and object of a path in one of the three merged trees. The mode is 0 if the tree does not contain the path. */
export interface Version {
  readonly mode: number;
  readonly oid: Oid;
}

export const ABSENT: Version = { mode: 0, oid: ZERO_OID };

/** Indexes of the three trees of a merge in arrays. In a bit mask, `1 << index` is the bit of a tree. */
export const BASE = 0;
export const OURS = 1;
export const THEIRS = 2;
export type Stage = typeof BASE | typeof OURS | typeof THEIRS;
export type MergeSide = typeof OURS | typeof THEIRS;

export const BASE_BIT = 1;
export const OURS_BIT = 2;
export const THEIRS_BIT = 4;
export const SIDE_BITS = OURS_BIT | THEIRS_BIT;
export const BASE_AND_OURS = BASE_BIT | OURS_BIT;
export const BASE_AND_THEIRS = BASE_BIT | THEIRS_BIT;
export const ALL_BITS = 7;

export type Three<T> = [base: T, ours: T, theirs: T];

/** State of one path during a merge of three trees. The path may be a file in one tree and a folder in another. */
export class Entry {
  /** Version of the path in the merged tree. */
  result: Version = ABSENT;
  isClean = false;
  /** True if the merged tree does not contain the path. `result` has no meaning then. */
  isGone = false;
  /** Bit masks of the merged trees in which the path is a file (`fileMask`) or a folder (`dirMask`). */
  fileMask: number;
  dirMask: number;
  /** Bit mask of the trees whose versions of the path are equal: two or three bits, or 0 if all differ. */
  matchMask = 0;
  /** True if the path is a file in one tree and a folder in another. */
  hasFileFolderConflict = false;
  /**
   * True if the sides disagree about the path itself, for example because they renamed a file differently. This is a
   * conflict even if the content can be merged.
   */
  hasPathConflict = false;
  /** Path of the file in each of the three trees. The paths differ after a rename. */
  readonly names: Three<ByteString>;

  constructor(
    path: ByteString,
    readonly stages: Three<Version>,
    fileMask: number,
    dirMask: number,
  ) {
    this.names = [path, path, path];
    this.fileMask = fileMask;
    this.dirMask = dirMask;
  }

  static resolved(path: ByteString, stages: Three<Version>, result: Version): Entry {
    const entry = new Entry(path, stages, 0, 0);
    entry.resolve(result);
    return entry;
  }

  resolve(result: Version): void {
    this.result = result;
    this.isGone = result.mode === 0;
    this.isClean = true;
  }

  resolveAsGone(): void {
    this.isGone = true;
    this.isClean = true;
  }

  /** Removes the versions that are folders, so that only file versions remain. */
  keepFilesOnly(): void {
    this.matchMask &= ~this.dirMask;
    this.dirMask = 0;
    for (const stage of [BASE, OURS, THEIRS] as const) {
      if ((this.fileMask & (1 << stage)) === 0) this.stages[stage] = ABSENT;
    }
  }

  copy(path: ByteString): Entry {
    const copy = new Entry(path, [...this.stages], this.fileMask, this.dirMask);
    copy.names.splice(0, 3, ...this.names);
    copy.result = this.result;
    copy.isClean = this.isClean;
    copy.isGone = this.isGone;
    copy.matchMask = this.matchMask;
    copy.hasFileFolderConflict = this.hasFileFolderConflict;
    copy.hasPathConflict = this.hasPathConflict;
    return copy;
  }
}

export function isSameVersion(a: Version, b: Version): boolean {
  return a.mode === b.mode && a.oid === b.oid;
}

/** Returns true if both are files, both symbolic links, or both submodules. */
export function isSameType(a: Version, b: Version): boolean {
  return fileType(a.mode) === fileType(b.mode);
}
