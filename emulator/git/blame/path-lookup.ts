import type { ByteString } from '../object/bytes.js';
import type { ObjectReader } from '../object/object.js';
import { canonicalMode, MODE_GITLINK, MODE_TREE } from '../object/tree.js';
import { NONE, TreeCursor } from '../object/tree-cursor.js';

export interface Found {
  readonly mode: number;
  /** The number of the object; `NONE` of an empty tree that is not stored, and of a gitlink. */
  readonly object: number;
}

/** Looks up one path in many trees. What a folder holds is remembered, and most folders stay the same. */
export class PathLookup {
  readonly #names: Buffer[];
  /** For each folder on the path, from the number of its tree to what it holds by the next name. */
  readonly #seen: Map<number, Found | undefined>[];

  constructor(
    private readonly objects: ObjectReader,
    path: ByteString,
  ) {
    this.#names = path.split('/').map((name) => Buffer.from(name, 'latin1'));
    this.#seen = this.#names.map(() => new Map());
  }

  /** What is at the path in the tree. Throws `MissingObject`. */
  in(tree: number): Found | undefined {
    let found: Found = { mode: MODE_TREE, object: tree };
    for (let depth = 0; depth < this.#names.length; depth++) {
      if (found.mode !== MODE_TREE || found.object === NONE) return undefined;
      const seen = this.#seen[depth]!;
      let next = seen.get(found.object);
      if (!next && !seen.has(found.object)) {
        next = this.#scan(found.object, this.#names[depth]!);
        seen.set(found.object, next);
      }
      if (!next) return undefined;
      found = next;
    }
    return found;
  }

  #scan(tree: number, name: Buffer): Found | undefined {
    const entry = new TreeCursor(this.objects.read(tree));
    if (!entry.find(name)) return undefined;
    const mode = canonicalMode(entry.mode);
    return { mode, object: mode === MODE_GITLINK ? NONE : entry.object(this.objects) };
  }
}
