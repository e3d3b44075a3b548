import { constants } from 'node:fs';
import { lstat, open, readdir, readlink } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type ByteString, bytesIn, splitBytes } from '../git/object/bytes.js';
import { byBytes } from '../git/object/sort.js';
import { systemErrorText } from '../system/error-text.js';
import { type FileEntry, type FileTree, SourceError } from './file-tree.js';

const PIECE = 256 * 1024;

/**
 * Tree of files in a folder of the file system. Names are bytes. Symbolic links are listed as links and never followed.
 */
export class DiskTree implements FileTree {
  readonly #root: string;

  /** `title`: path of the folder; or path of a file, which is then the root of the tree. */
  constructor(readonly title: string) {
    this.#root = resolve(title);
  }

  async stat(path: ByteString): Promise<FileEntry | undefined> {
    const names = path === '' ? [] : splitBytes(path, '/');
    let entry = await this.#entry('' as ByteString, '' as ByteString);
    for (let count = 1; count <= names.length; count++) {
      if (entry?.kind !== 'folder') return undefined;
      entry = await this.#entry(names.slice(0, count).join('/') as ByteString, names[count - 1]!);
    }
    return entry;
  }

  async list(folder: ByteString): Promise<readonly FileEntry[]> {
    const names = await saying(this.title, readdir(this.#path(folder), { encoding: 'buffer' }));
    const entries: FileEntry[] = [];
    for (const name of names.map((each) => bytesIn(each)).sort(byBytes)) {
      const entry = await this.#entry((folder === '' ? name : `${folder}/${name}`) as ByteString, name);
      if (entry) entries.push(entry);
    }
    return entries;
  }

  async *read(path: ByteString): AsyncGenerator<Buffer> {
    const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
    const flags = O_RDONLY | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0);
    const file = await saying(this.title, open(this.#path(path), flags));
    try {
      // The opened file is checked again, because a file that was listed may have been replaced by a pipe.
      if (!(await file.stat()).isFile())
        throw new SourceError(`${this.title} contains ${path}, which is not a regular file.`);
      for (;;) {
        const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(PIECE), 0, PIECE);
        if (bytesRead === 0) return;
        yield buffer.subarray(0, bytesRead);
      }
    } finally {
      await file.close();
    }
  }

  readLink(path: ByteString): Promise<Buffer> {
    return saying(this.title, readlink(this.#path(path), { encoding: 'buffer' }));
  }

  #path(path: ByteString): Buffer {
    return Buffer.concat([Buffer.from(path === '' ? this.#root : `${this.#root}/`), Buffer.from(path, 'latin1')]);
  }

  async #entry(path: ByteString, name: ByteString): Promise<FileEntry | undefined> {
    try {
      const found = await lstat(this.#path(path));
      const kind = found.isFile() ? 'file' : found.isDirectory() ? 'folder' : found.isSymbolicLink() ? 'link' : 'other';
      return { name, kind, isExecutable: (found.mode & 0o100) !== 0, size: found.size };
    } catch (error) {
      if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
      throw refusal(this.title, error);
    }
  }
}

/**
 * Waits for a file system operation on the path `title`. Converts its error to a `SourceError`, which says that the
 * path cannot be read or used (`verb`).
 */
export async function saying<T>(title: string, work: Promise<T>, verb: 'read' | 'used' = 'read'): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw refusal(title, error, verb);
  }
}

function refusal(title: string, error: unknown, verb = 'read'): unknown {
  const reason = systemErrorText(error);
  return reason === undefined ? error : new SourceError(`${title} cannot be ${verb} (${reason}).`);
}
