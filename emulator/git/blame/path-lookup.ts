import type { ByteString } from '../bytes.js';
import type { ObjectReader, Oid } from '../object.js';
import { canonicalMode, MODE_TREE, readTreeBody, TreeScanner } from '../tree.js';

export interface Found {
  readonly mode: number;
  readonly oid: Oid;
}

/** Looks up one path in many trees. What a folder holds is remembered, and most folders stay the same. */
export class PathLookup {
  readonly #names: Buffer[];
  /** For each folder on the path, from the id of its tree to what it holds by the next name. */
  readonly #seen: Map<Oid, Found | undefined>[];

  constructor(
    private readonly objects: ObjectReader,
    path: ByteString,
  ) {
    this.#names = path.split('/').map((name) => Buffer.from(name, 'latin1'));
    this.#seen = this.#names.map(() => new Map());
  }

  /** What is at the path in the tree. Throws `MissingObject`. */
  in(tree: Oid): Found | undefined {
    let found: Found = { mode: MODE_TREE, oid: tree };
    for (const [depth, name] of this.#names.entries()) {
      if (found.mode !== MODE_TREE) return undefined;
      const seen = this.#seen[depth]!;
      let next = seen.get(found.oid);
      if (!next && !seen.has(found.oid)) {
        next = this.#scan(found.oid, name);
        seen.set(found.oid, next);
      }
      if (!next) return undefined;
      found = next;
    }
    return found;
  }

  #scan(tree: Oid, name: Buffer): Found | undefined {
    const scan = new TreeScanner(readTreeBody(this.objects, tree));
    while (scan.next()) {
      if (scan.nameEnd - scan.nameStart !== name.length) continue;
      if (scan.body.compare(name, 0, name.length, scan.nameStart, scan.nameEnd) === 0) {
        return { mode: canonicalMode(scan.mode), oid: scan.oid };
      }
    }
    return undefined;
  }
}
