import { type ByteString, NO_BYTES, replaceBytes, sliceBytes } from '../object/bytes.js';

/** A set of files and folders, named literally. */
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

  /** Whether `path` itself is in the set; what lies below it then is too. */
  covers(path: ByteString): boolean {
    return this.#paths.has(path) || this.#paths.has(NO_BYTES);
  }

  /** Whether something of the set lies below `folder`. */
  leadsInto(folder: ByteString): boolean {
    return this.#parents.has(folder);
  }
}
