import type { ByteString } from '../git/object/bytes.js';

/** A source cannot be read or is refused. The message is one sentence. */
export class SourceError extends Error {
  override readonly name = 'SourceError';
}

export interface FileEntry {
  readonly name: ByteString;
  /** `other`: a device, pipe or socket. */
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  readonly isExecutable: boolean;
  /** Size of a file in bytes. */
  readonly size: number;
}

/** Tree of files. Paths are bytes with `/` between names; the root is empty. Symbolic links are not followed. */
export interface FileTree {
  /** Name in messages. */
  readonly title: string;
  /** Returns the entry at a path; undefined if it does not exist or a link is on the path. */
  stat(path: ByteString): Promise<FileEntry | undefined>;
  /** Lists a folder, in byte order of the names. */
  list(folder: ByteString): Promise<readonly FileEntry[]>;
  /** Reads a file in pieces. Throws `SourceError` if it is not a file. */
  read(path: ByteString): AsyncIterable<Buffer>;
  /** Reads the target of a link. */
  readLink(path: ByteString): Promise<Buffer>;
}

/** Reads a whole file of at most `max` bytes; undefined if it does not exist. */
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
