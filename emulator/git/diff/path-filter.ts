import { type ByteString, NO_BYTES, replaceBytes, sliceBytes } from '../object/bytes.js';

/** Paths of files and folders to which a diff is limited. They are literal, without wildcards. */
export class PathFilter {
  readonly #paths = new Set<ByteString>();
  readonly #parents = new Set<ByteString>();

  constructor(paths: Iterable<ByteString>) {
    for (const given of paths) {
      const path = replaceBytes(given, /\/+$/, () => NO_BYTES);
      this.#paths.add(path);
      for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
        this.#parents.add(sliceBytes(path, 0, slash));
      }
    }
  }

  /**
   * Returns true if the diff includes everything at and below `path`. This is so if the set contains `path` or the root
   * folder.
   */
  covers(path: ByteString): boolean {
    return this.#paths.has(path) || this.#paths.has(NO_BYTES);
  }

  /** Returns true if the set contains a path below `folder`. The diff must then open this folder. */
  leadsInto(folder: ByteString): boolean {
    return this.#parents.has(folder);
  }
}
