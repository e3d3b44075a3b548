import sortedBTree from 'sorted-btree';
import type { ByteString } from './bytes.js';
import type { Oid } from './object.js';

/** Where HEAD points: at a ref by name (which may not exist yet), or straight at a commit. */
export type Head = { readonly symref: ByteString } | { readonly oid: Oid };

export interface Ref {
  readonly oid: Oid;
  /** When the ref came into being, milliseconds on the world's clock. */
  readonly createdAt: number;
}

// The package is CommonJS: under Node's ES modules its class is the `default` member of its exports.
const BTree = sortedBTree.default;
type Tree = sortedBTree.default<ByteString, Ref>;

/**
 * All refs of one repository at one moment: an immutable sorted map from full ref name to object id.
 * Keeping a `Refs` pins what it shows; a change is a new `Refs` that shares everything else.
 */
export class Refs {
  static empty(defaultBranch: ByteString): Refs {
    return new Refs(new BTree(), { symref: `refs/heads/${defaultBranch}` });
  }

  readonly #tree: Tree;
  readonly head: Head;

  private constructor(tree: Tree, head: Head) {
    this.#tree = tree;
    this.head = head;
  }

  get size(): number {
    return this.#tree.size;
  }

  get(name: ByteString): Oid | undefined {
    return this.#tree.get(name)?.oid;
  }

  ref(name: ByteString): Ref | undefined {
    return this.#tree.get(name);
  }

  /** What HEAD resolves to; undefined while its branch is unborn. */
  get headOid(): Oid | undefined {
    return 'oid' in this.head ? this.head.oid : this.get(this.head.symref);
  }

  /** `[name, ref]` of every ref whose name starts with `prefix`, in byte order. */
  *entries(prefix: ByteString = ''): IterableIterator<[ByteString, Ref]> {
    for (const [name, ref] of this.#tree.entries(prefix)) {
      if (!name.startsWith(prefix)) return;
      yield [name, ref];
    }
  }

  /**
   * The ref that keeps `name` from existing beside it: `a` for `a/b`, or `a/b` for `a`.
   * Git stores refs as files, so one name cannot be both a file and a folder.
   */
  conflictWith(name: ByteString): ByteString | undefined {
    for (let at = name.indexOf('/'); at >= 0; at = name.indexOf('/', at + 1)) {
      const parent = name.slice(0, at);
      if (this.#tree.has(parent)) return parent;
    }
    for (const [child] of this.entries(`${name}/`)) return child;
    return undefined;
  }

  /** With each change applied in order: an id sets the ref, undefined removes it. */
  with(changes: Iterable<readonly [ByteString, Oid | undefined]>, now: number): Refs {
    const tree = this.#tree.clone();
    for (const [name, oid] of changes) {
      if (oid === undefined) tree.delete(name);
      else tree.set(name, { oid, createdAt: tree.get(name)?.createdAt ?? now });
    }
    return new Refs(tree, this.head);
  }

  withHead(head: Head): Refs {
    return new Refs(this.#tree, head);
  }
}
