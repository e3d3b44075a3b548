import type { ByteString } from './bytes.js';
import type { Oid } from './object.js';

export const MODE_TREE = 0o040000;
export const MODE_FILE = 0o100644;
export const MODE_EXECUTABLE = 0o100755;
export const MODE_SYMLINK = 0o120000;
export const MODE_GITLINK = 0o160000;

export interface TreeEntry {
  /** One of the five modes above, whatever older tools wrote. */
  readonly mode: number;
  readonly name: ByteString;
  readonly oid: Oid;
}

/** What a path holds: a tree entry, named by its path from the root. */
export interface PathEntry {
  readonly path: ByteString;
  readonly mode: number;
  readonly oid: Oid;
}

/** The mode as Git reads it: of files only the owner's x bit counts, and what is neither file, link nor tree is a gitlink. */
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

/** What a mode is of, without permissions: C's `S_IFMT`. */
export function fileType(mode: number): number {
  return mode & 0o170000;
}

/** Whether it is the mode of a file, executable or not: C's `S_ISREG`. */
export function isRegular(mode: number): boolean {
  return fileType(mode) === 0o100000;
}

/** A mode as the API and `git ls-tree` write it: six octal digits. */
export function formatMode(mode: number): string {
  return mode.toString(8).padStart(6, '0');
}

/** Writes the entries in Git's order, whatever order they come in. */
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

/** Git's order of tree entries: by bytes, the name of a folder as if it ended in `/`. */
export function compareEntries(a: Pick<TreeEntry, 'mode' | 'name'>, b: Pick<TreeEntry, 'mode' | 'name'>): number {
  const left = a.mode === MODE_TREE ? `${a.name}/` : a.name;
  const right = b.mode === MODE_TREE ? `${b.name}/` : b.name;
  return left < right ? -1 : left > right ? 1 : 0;
}
