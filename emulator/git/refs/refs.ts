import sortedBTree from 'sorted-btree';
import { type ByteString, bytesOf, concatBytes, NO_BYTES, SLASH, sliceBytes } from '../object/bytes.js';
import type { Oid } from '../object/object.js';
import { byBytes } from '../object/sort.js';

/** Target of HEAD: the full name of a ref, which need not exist yet, or the id of a commit (detached HEAD). */
export type Head = { readonly symref: ByteString } | { readonly oid: Oid };

export interface Ref {
  readonly oid: Oid;
  /** Time at which the ref was created, in milliseconds on the simulated clock of the server. */
  readonly createdAt: number;
}

const HEADS = bytesOf('refs/heads/');

// The package `sorted-btree` is CommonJS. In Node's ES modules, its class is the `default` member of its exports.
const BTree = sortedBTree.default;
type Tree = sortedBTree.default<ByteString, Ref>;

/**
 * All refs of one repository at one moment: an immutable sorted map from full ref name to object id (a copy-on-write
 * B-tree). A change creates a new `Refs`, which shares all unchanged nodes.
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

  /** Id of the object that HEAD resolves to; undefined as long as the ref that HEAD names does not exist. */
  get headOid(): Oid | undefined {
    return 'oid' in this.head ? this.head.oid : this.get(this.head.symref);
  }

  /** Yields `[name, ref]` for every ref whose full name starts with `prefix`, sorted by the bytes of the names. */
  *entries(prefix: ByteString = NO_BYTES): IterableIterator<[ByteString, Ref]> {
    for (const [name, ref] of this.#tree.entries(prefix)) {
      if (!name.startsWith(prefix)) return;
      yield [name, ref];
    }
  }

  /** Returns the existing ref that conflicts with a new ref `name`, or undefined. See `RefsDraft.conflictWith`. */
  conflictWith(name: ByteString): ByteString | undefined {
    return conflictIn(this.#tree, name);
  }

  /**
   * Returns a mutable copy of the refs, from which a new `Refs` is made. `now`: creation time of the refs that are
   * added to the copy, in milliseconds.
   */
  draft(now: number): RefsDraft {
    return new RefsDraft(this.#tree.clone(), now, (tree) => new Refs(tree, this.head));
  }

  /**
   * Returns a copy of the refs to which `changes` were applied in order. An id creates or moves the ref; undefined
   * removes it. `now`: creation time of new refs, in milliseconds.
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
 * Mutable copy of the refs of a repository, to which several changes are applied. Each change sees the results of the
 * changes before it.
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
   * undefined if there is no such ref. Git stores refs as files, so one name cannot be both a file and a folder.
   */
  conflictWith(name: ByteString): ByteString | undefined {
    return conflictIn(this.tree, name);
  }

  /** Creates or moves a ref, or removes it if `oid` is undefined. A moved ref keeps its creation time. */
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
 * Returns the name of the ref in `tree` that conflicts with a new ref `name`, or undefined if none.
 *
 * Searches in Git's order: first refs named like a folder that contains `name`, outermost first, then refs inside the
 * folder `name`. Skips folders that cannot be the name of a ref, because a name may be inside thousands of folders.
 */
function conflictIn(tree: Tree, name: ByteString): ByteString | undefined {
  for (let at = name.indexOf('/'); at !== -1; ) {
    const folder = sliceBytes(name, 0, at);
    const next = tree.getPairOrNextHigher(folder)?.[0];
    if (next === folder) return folder;
    if (next === undefined || next > name) break;
    // `next` is the first ref at or after `folder`. A folder that contains both `name` and `next` would sort before
    // `next`, so it cannot be a ref and is skipped.
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
