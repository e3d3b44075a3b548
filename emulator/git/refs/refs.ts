import sortedBTree from 'sorted-btree';
import { type ByteString, bytesOf, concatBytes, NO_BYTES, SLASH, sliceBytes } from '../object/bytes.js';
import type { Oid } from '../object/object.js';
import { byBytes } from '../object/sort.js';

/** Target of HEAD. It is the full name of a ref, which need not exist yet, or the id of a commit (detached HEAD). */
export type Head = { readonly symref: ByteString } | { readonly oid: Oid };

export interface Ref {
  readonly oid: Oid;
  /** Time at which the ref was created, in milliseconds of the server's simulated clock. */
  readonly createdAt: number;
}

const HEADS = bytesOf('refs/heads/');

// The class of the package `sorted-btree` is the `default` member of its exports, because the package is CommonJS and
// is imported from an ES module.
const BTree = sortedBTree.default;
type Tree = sortedBTree.default<ByteString, Ref>;

/**
 * All refs of one repository at one moment. It is an immutable sorted map from full ref name to object id, stored as a
 * copy-on-write B-tree. A change creates a new `Refs`, which shares all unchanged nodes.
 */
export class Refs {
  static empty(defaultBranch: ByteString): Refs {
    return new Refs(new BTree(undefined, byBytes), { symref: concatBytes(HEADS, defaultBranch) });
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

  /** Id of the object that HEAD resolves to; undefined if HEAD names a ref that does not exist yet. */
  get headOid(): Oid | undefined {
    return 'oid' in this.head ? this.head.oid : this.get(this.head.symref);
  }

  /** Yields `[name, ref]` for each ref whose full name starts with `prefix`, sorted by the bytes of the names. */
  *entries(prefix: ByteString = NO_BYTES): IterableIterator<[ByteString, Ref]> {
    for (const [name, ref] of this.#tree.entries(prefix)) {
      if (!name.startsWith(prefix)) return;
      yield [name, ref];
    }
  }

  /** Returns the existing ref that conflicts with a new ref `name`; undefined if none. See `RefsDraft.conflictWith`. */
  conflictWith(name: ByteString): ByteString | undefined {
    return conflictIn(this.#tree, name);
  }

  /**
   * Returns a mutable copy of the refs, from which a new `Refs` is made. `now` becomes the creation time of added refs,
   * in milliseconds.
   */
  draft(now: number): RefsDraft {
    return new RefsDraft(this.#tree.clone(), now, (tree) => new Refs(tree, this.head));
  }

  /**
   * Returns a copy of the refs with `changes` applied in order. An id creates or moves the ref; undefined removes it.
   * `now` becomes the creation time of new refs, in milliseconds.
   */
  with(changes: Iterable<readonly [ByteString, Oid | undefined]>, now: number): Refs {
    const draft = this.draft(now);
    for (const [name, oid] of changes) draft.put(name, oid);
    return draft.done();
  }

  withHead(head: Head): Refs {
    return new Refs(this.#tree, head);
  }
}

/**
 * Mutable copy of the refs of a repository. Changes are applied to it one after the other, and each change sees the
 * results of the earlier ones.
 */
export class RefsDraft {
  constructor(
    private readonly tree: Tree,
    private readonly now: number,
    private readonly finish: (tree: Tree) => Refs,
  ) {}

  get(name: ByteString): Oid | undefined {
    return this.tree.get(name)?.oid;
  }

  /**
   * Returns the name of an existing ref that conflicts with a new ref `name`: `a` for `a/b`, or `a/b` for `a`. Returns
   * undefined if none. Such refs conflict, because Git stores refs as files, and a name cannot be both a file and a
   * folder.
   */
  conflictWith(name: ByteString): ByteString | undefined {
    return conflictIn(this.tree, name);
  }

  /** Creates or moves a ref. Removes the ref if `oid` is undefined. A moved ref keeps its creation time. */
  put(name: ByteString, oid: Oid | undefined): void {
    if (oid === undefined) this.tree.delete(name);
    else this.tree.set(name, { oid, createdAt: this.tree.get(name)?.createdAt ?? this.now });
  }

  /** Returns an immutable `Refs` with the current state of the copy. The copy must not be changed afterwards. */
  done(): Refs {
    return this.finish(this.tree);
  }
}

/**
 * Returns the name of the ref in `tree` that conflicts with a new ref `name`; undefined if none.
 *
 * The search order is Git's. First come refs named like a folder that contains `name`, outermost folder first; then
 * refs inside the folder `name`. Folders that cannot be the name of a ref are skipped, because a name may be inside
 * thousands of folders.
 */
function conflictIn(tree: Tree, name: ByteString): ByteString | undefined {
  for (let at = name.indexOf('/'); at !== -1; ) {
    const folder = sliceBytes(name, 0, at);
    const next = tree.getPairOrNextHigher(folder)?.[0];
    if (next === folder) return folder;
    if (next === undefined || next > name) break;
    // `next` is the first ref at or after `folder`. A folder that contains both `name` and `next` would sort before
    // `next`. It is therefore not a ref and is skipped.
    at = name.indexOf('/', Math.max(at + 1, commonLength(name, next)));
  }
  return firstInside(tree, concatBytes(name, SLASH));
}

/** Returns the length in bytes of the common prefix of two ref names. */
function commonLength(a: ByteString, b: ByteString): number {
  let at = 0;
  while (at < a.length && at < b.length && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  return at;
}

function firstInside(tree: Tree, folder: ByteString): ByteString | undefined {
  const next = tree.nextHigherKey(folder);
  return next?.startsWith(folder) ? next : undefined;
}
