import { type ByteString, NO_BYTES, splitBytes } from '../object/bytes.js';

/** Number that the table assigns to a path. A folder has a smaller number than all paths below it. */
export type PathId = number;

/** Path number of the root folder. */
export const ROOT: PathId = 0;

/**
 * Table that assigns numbers to paths. Each path is stored as its last name and the number of its folder. Deep paths
 * therefore take no more memory than short ones.
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
   * Returns the number of the path `name` inside the folder with the number `folder`. Assigns a number if the path has
   * none yet.
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
   * Returns the number of a path that starts at the root, such as `src/main.c`. Assigns a number if the path has none
   * yet.
   */
  add(path: ByteString): PathId {
    let at = ROOT;
    if (path !== '') for (const name of splitBytes(path, '/')) at = this.inside(at, name);
    return at;
  }

  /** Returns the number of a path that starts at the root, such as `src/main.c`; -1 if the path has no number. */
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
