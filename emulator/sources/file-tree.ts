import type { ByteString } from '../git/object/bytes.js';

/** A source that cannot be read, or that is refused: one sentence. */
export class SourceError extends Error {
  override readonly name = 'SourceError';
}

export interface FileEntry {
  readonly name: ByteString;
  /** `other`: a device, a pipe, a socket. */
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  readonly isExecutable: boolean;
  /** Bytes of a file. */
  readonly size: number;
}

/** Files by their paths, which are bytes with `/` between names; the root is empty. No symbolic link is followed. */
export interface FileTree {
  /** What messages call it. */
  readonly title: string;
  /** The entry of a path; undefined where there is none, or where a link is on the way. */
  stat(path: ByteString): Promise<FileEntry | undefined>;
  /** What is in a folder, in the order of the bytes of the names. */
  list(folder: ByteString): Promise<readonly FileEntry[]>;
  /** The bytes of a file, piece by piece. Throws `SourceError` for what is no file. */
  read(path: ByteString): AsyncIterable<Buffer>;
  /** What a link points at. */
  readLink(path: ByteString): Promise<Buffer>;
}

/** The whole of a file of at most `most` bytes; undefined where there is none. */
export async function readSmall(tree: FileTree, path: ByteString, most: number): Promise<Buffer | undefined> {
  const entry = await tree.stat(path);
  if (!entry) return undefined;
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of tree.read(path)) {
    bytes += piece.length;
    if (bytes > most) throw new SourceError(`${tree.title} has a file of more than ${most} bytes: ${path}.`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
