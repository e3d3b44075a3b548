import type { ByteString } from './bytes.js';
import type { Oid } from './object.js';

export const MODE_TREE = 0o040000;
export const MODE_FILE = 0o100644;
export const MODE_EXECUTABLE = 0o100755;
export const MODE_SYMLINK = 0o120000;
export const MODE_GITLINK = 0o160000;

export interface TreeEntry {
  /** Canonical mode: one of the five modes above. An older tool may have stored the tree with another mode. */
  readonly mode: number;
  readonly name: ByteString;
  readonly oid: Oid;
}

/** Tree entry identified by its path from the root folder. */
export interface PathEntry {
  readonly path: ByteString;
  readonly mode: number;
  readonly oid: Oid;
}

/**
 * Returns the canonical form of a tree entry's mode, as Git reads it. For files, only the owner's execute bit counts.
 * Each mode that is not a file, symbolic link or tree is read as a gitlink (submodule).
 */
export function canonicalMode(mode: number): number {
  switch (mode & 0o170000) {
    case 0o100000:
      return mode & 0o100 ? MODE_EXECUTABLE : MODE_FILE;
    case MODE_SYMLINK:
      return MODE_SYMLINK;
    case MODE_TREE:
      return MODE_TREE;
    default:
      return MODE_GITLINK;
  }
}

/** Returns the file type bits of a mode, without its permissions (C's `S_IFMT`). */
export function fileType(mode: number): number {
  return mode & 0o170000;
}

/** Returns true if the mode is that of a regular file, executable or not (C's `S_ISREG`). */
export function isRegular(mode: number): boolean {
  return fileType(mode) === 0o100000;
}

/** Returns a mode as six octal digits, as in the HTTP API and in `git ls-tree`. */
export function formatMode(mode: number): string {
  return mode.toString(8).padStart(6, '0');
}

/** Returns the body of a tree object with these entries, sorted in Git's order. */
export function writeTree(entries: Iterable<TreeEntry>): Buffer {
  const sorted = [...entries].sort(compareEntries);
  let size = 0;
  for (const { mode, name } of sorted) size += (mode === MODE_TREE ? 5 : 6) + 1 + name.length + 1 + 20;
  const body = Buffer.allocUnsafe(size);
  let at = 0;
  for (const { mode, name, oid } of sorted) {
    at += body.write(`${mode.toString(8)} ${name}\0`, at, 'latin1');
    at += body.write(oid, at, 'hex');
  }
  return body;
}

/**
 * Compares two tree entries in Git's order: by the bytes of their names, with `/` appended to the name of a folder.
 * Returns -1, 0 or 1.
 */
export function compareEntries(a: Pick<TreeEntry, 'mode' | 'name'>, b: Pick<TreeEntry, 'mode' | 'name'>): number {
  const left = a.mode === MODE_TREE ? `${a.name}/` : a.name;
  const right = b.mode === MODE_TREE ? `${b.name}/` : b.name;
  return left < right ? -1 : left > right ? 1 : 0;
}
