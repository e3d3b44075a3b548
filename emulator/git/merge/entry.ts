import type { ByteString } from '../object/bytes.js';
import { type Oid, ZERO_OID } from '../object/object.js';
import { fileType } from '../object/tree.js';

/** What a side has at a path. Mode 0: nothing. */
export interface Version {
  readonly mode: number;
  readonly oid: Oid;
}

export const ABSENT: Version = { mode: 0, oid: ZERO_OID };

/** The three trees of a merge, as indexes; `1 << index` is a tree's bit in a mask. */
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

/** What is known of one path during a merge: a file, a folder, or (of different trees) both. */
export class Entry {
  /** What the path becomes. */
  result: Version = ABSENT;
  isClean = false;
  /** The path holds nothing after the merge, whatever `result` says. */
  isGone = false;
  /** Trees in which the path is a file, and in which it is a folder. */
  fileMask: number;
  dirMask: number;
  /** Trees that agree: two of them, or none. */
  matchMask = 0;
  /** A file here and a folder there. */
  hasFileFolderConflict = false;
  /** The path itself is contested (where a file was renamed to), whatever becomes of its content. */
  hasPathConflict = false;
  /** Where each version comes from; renames make them differ. */
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

  /** Forgets what is known of folders: the versions left are files. */
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

/** Whether both are files, both links, or both gitlinks. */
export function isSameType(a: Version, b: Version): boolean {
  return fileType(a.mode) === fileType(b.mode);
}
