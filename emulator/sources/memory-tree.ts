import { type ByteString, splitBytes } from '../git/object/bytes.js';
import { byBytes } from '../git/object/sort.js';
import { freeBlocks } from '../memory/free-blocks.js';
import { type FileEntry, type FileTree, SourceError } from './file-tree.js';

interface Folder {
  readonly inside: Map<ByteString, Folder | readonly Buffer[]>;
}

/** Tree of files in memory, such as the content of an uploaded tar archive. */
export class MemoryTree implements FileTree {
  readonly #root: Folder = { inside: new Map() };

  constructor(readonly title: string) {}

  /**
   * Adds a file with its content. Throws `SourceError` if the path already exists, or one of its parent folders is a
   * file.
   */
  add(path: ByteString, pieces: readonly Buffer[]): void {
    const names = splitBytes(path, '/');
    const name = names.pop()!;
    const folder = this.#open(names, path);
    if (folder.inside.has(name)) throw new SourceError(`${this.title} contains the path ${path} twice.`);
    folder.inside.set(name, pieces);
  }

  addFolder(path: ByteString): void {
    this.#open(splitBytes(path, '/'), path);
  }

  /** Frees the memory of the contents of all files. They must not be read afterwards. */
  free(): void {
    freeBlocks(blocksIn(this.#root));
    this.#root.inside.clear();
  }

  async stat(path: ByteString): Promise<FileEntry | undefined> {
    const found = this.#find(path);
    return found && entryOf(path.slice(path.lastIndexOf('/') + 1) as ByteString, found);
  }

  async list(folder: ByteString): Promise<readonly FileEntry[]> {
    const found = this.#find(folder);
    if (!found || !('inside' in found)) throw new SourceError(`${this.title} has no folder ${folder}.`);
    return [...found.inside].map(([name, entry]) => entryOf(name, entry)).sort((a, b) => byBytes(a.name, b.name));
  }

  async *read(path: ByteString): AsyncGenerator<Buffer> {
    const found = this.#find(path);
    if (!found || 'inside' in found) throw new SourceError(`${this.title} has no file ${path}.`);
    yield* found;
  }

  readLink(path: ByteString): Promise<Buffer> {
    throw new SourceError(`${this.title} has no link ${path}.`);
  }

  #open(names: readonly ByteString[], path: ByteString): Folder {
    let folder = this.#root;
    for (const name of names) {
      const below: Folder | readonly Buffer[] = folder.inside.get(name) ?? { inside: new Map() };
      if (!('inside' in below)) throw new SourceError(`${this.title} contains ${path} both as a file and as a folder.`);
      folder.inside.set(name, below);
      folder = below;
    }
    return folder;
  }

  #find(path: ByteString): Folder | readonly Buffer[] | undefined {
    let found: Folder | readonly Buffer[] | undefined = this.#root;
    for (const name of path === '' ? [] : splitBytes(path, '/')) {
      if (!found || !('inside' in found)) return undefined;
      found = found.inside.get(name);
    }
    return found;
  }
}

function* blocksIn({ inside }: Folder): Generator<Buffer> {
  for (const entry of inside.values()) {
    if ('inside' in entry) yield* blocksIn(entry);
    else yield* entry;
  }
}

function entryOf(name: ByteString, found: Folder | readonly Buffer[]): FileEntry {
  if ('inside' in found) return { name, kind: 'folder', isExecutable: false, size: 0 };
  return { name, kind: 'file', isExecutable: false, size: found.reduce((sum, { length }) => sum + length, 0) };
}
