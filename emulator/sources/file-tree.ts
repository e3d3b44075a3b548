import type { ByteString } from '../git/object/bytes.js';

/**
 * Error that says why a source (folder, bundle or URL from which the emulator imports) cannot be read or is refused.
 * The message is one sentence for the user.
 */
export class SourceError extends Error {
  override readonly name = 'SourceError';
}

export interface FileEntry {
  readonly name: ByteString;
  /** Kind of the entry. `link`: symbolic link. `other`: device, pipe or socket. */
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  readonly isExecutable: boolean;
  /** Size of a file in bytes. */
  readonly size: number;
}

/**
 * Read-only tree of files, on disk or in memory. Paths are bytes with `/` between names; the path of the root is empty.
 * Symbolic links are not followed.
 */
export interface FileTree {
  /** Name of the tree in error messages, such as its path. */
  readonly title: string;
  /** Returns the entry at a path; undefined if it does not exist or one of its parent folders is a symbolic link. */
  stat(path: ByteString): Promise<FileEntry | undefined>;
  /** Returns the entries of a folder, sorted by the bytes of their names. */
  list(folder: ByteString): Promise<readonly FileEntry[]>;
  /** Yields the content of a file in pieces. Throws `SourceError` if the path is not a file. */
  read(path: ByteString): AsyncIterable<Buffer>;
  /** Returns the target of a symbolic link. */
  readLink(path: ByteString): Promise<Buffer>;
}

/**
 * Returns the content of a file of at most `max` bytes; undefined if it does not exist. Throws `SourceError` if it is
 * larger.
 */
export async function readSmall(tree: FileTree, path: ByteString, max: number): Promise<Buffer | undefined> {
  const entry = await tree.stat(path);
  if (!entry) return undefined;
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of tree.read(path)) {
    bytes += piece.length;
    if (bytes > max) throw new SourceError(`${tree.title} has a file of more than ${max} bytes: ${path}.`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
