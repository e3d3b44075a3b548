import type { ByteString } from '../object/bytes.js';
import { type Oid, ZERO_OID } from '../object/object.js';
import { fileType } from '../object/tree.js';

/**
 * Mode and object id of a path in one of the three merged trees (base, ours, theirs). The mode is 0 if the path is
 * absent.
 */
export interface Version {
  readonly mode: number;
  readonly oid: Oid;
}

export const ABSENT: Version = { mode: 0, oid: ZERO_OID };

/** Array indexes of the three trees of a merge. In a bit mask, a tree has the bit `1 << index`. */
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
  /** Version of the path that the merge produced. */
  result: Version = ABSENT;
  isClean = false;
  /** True if the merged tree does not contain the path. `result` then has no meaning. */
  isGone = false;
  /** Bit masks of the trees in which the path is a file (`fileMask`) or a folder (`dirMask`). */
  fileMask: number;
  dirMask: number;
  /** Bit mask of the trees whose versions of the path are equal. It has two or three bits; 0 if all versions differ. */
  matchMask = 0;
  /** True if the path is a file in one of the three trees and a folder in another. */
  hasFileFolderConflict = false;
  /**
   * True if the sides disagree about the path itself, for example because they renamed a file to different paths. This
   * is a conflict even if the content can be merged.
   */
  hasPathConflict = false;
  /** Paths of the file in the base, in our tree and in their tree. After a rename, they differ. */
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

  /**
   * Removes the versions that are folders. This is used after a conflict between a file and a folder, when the file is
   * resolved on its own.
   */
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

/** Returns true if both versions are files, both are symbolic links, or both are submodules. */
export function isSameType(a: Version, b: Version): boolean {
  return fileType(a.mode) === fileType(b.mode);
}
