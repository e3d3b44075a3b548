import { type ByteString, NO_BYTES, splitBytes } from '../object/bytes.js';

/** Number that the table assigns to a path. The number of a folder is smaller than those of all paths below it. */
export type PathId = number;

/** Path number of the root folder. */
export const ROOT: PathId = 0;

/**
 * Table that assigns numbers to paths. It is a tree of names, in which each path needs only one entry, however deep it
 * is.
 */
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

  /**
   * Returns the number of the path `name` in the folder with number `folder`. Assigns a new number if the path has
   * none.
   */
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

  /**
   * Returns the number of a path that is given from the root, such as `src/main.c`. Assigns a new number if the path
   * has none.
   */
  add(path: ByteString): PathId {
    let at = ROOT;
    if (path !== '') for (const name of splitBytes(path, '/')) at = this.inside(at, name);
    return at;
  }

  /** Returns the number of a path that is given from the root, such as `src/main.c`; -1 if the path has no number. */
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
