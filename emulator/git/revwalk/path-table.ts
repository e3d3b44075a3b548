import { type ByteString, NO_BYTES, splitBytes } from '../object/bytes.js';

/** A path by number. A folder's number is smaller than those of all paths inside it. */
export type PathId = number;

/** The root folder. */
export const ROOT: PathId = 0;

/** Numbers for paths, kept as a tree of names, so that a path of any depth costs one entry. */
export class PathTable {
  readonly #folderOf: PathId[] = [-1];
  readonly #nameOf: ByteString[] = [NO_BYTES];
  readonly #inside: (Map<ByteString, PathId> | undefined)[] = [undefined];

  get size(): number {
    return this.#nameOf.length;
  }

  folderOf(path: PathId): PathId {
    return this.#folderOf[path]!;
  }

  /** The number of `name` in `folder`, given now when it has none. */
  inside(folder: PathId, name: ByteString): PathId {
    const names = this.#inside[folder] ?? new Map<ByteString, PathId>();
    this.#inside[folder] = names;
    const known = names.get(name);
    if (known !== undefined) return known;
    const path = this.size;
    this.#folderOf.push(folder);
    this.#nameOf.push(name);
    this.#inside.push(undefined);
    names.set(name, path);
    return path;
  }

  /** The number of a path from the root, given now when it has none. */
  add(path: ByteString): PathId {
    let at = ROOT;
    if (path !== '') for (const name of splitBytes(path, '/')) at = this.inside(at, name);
    return at;
  }

  /** As `add`, but -1 when it has none. */
  find(path: ByteString): PathId {
    if (path === '') return ROOT;
    let at = ROOT;
    for (const name of splitBytes(path, '/')) {
      const next = this.#inside[at]?.get(name);
      if (next === undefined) return -1;
      at = next;
    }
    return at;
  }
}
