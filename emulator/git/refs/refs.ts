import sortedBTree from 'sorted-btree';
import { type ByteString, bytesOf, concatBytes, NO_BYTES, SLASH, sliceBytes } from '../object/bytes.js';
import type { Oid } from '../object/object.js';
import { byBytes } from '../object/sort.js';

/** Target of HEAD: the name of a ref, which need not exist yet, or a commit (detached HEAD). */
export type Head = { readonly symref: ByteString } | { readonly oid: Oid };

export interface Ref {
  readonly oid: Oid;
  /** Time at which the ref was created, in milliseconds on the world's clock. */
  readonly createdAt: number;
}

const HEADS = bytesOf('refs/heads/');

// The package is CommonJS. Under Node's ES modules, its class is the `default` member of its exports.
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

  /** Object that HEAD resolves to; undefined while its branch is unborn. */
  get headOid(): Oid | undefined {
    return 'oid' in this.head ? this.head.oid : this.get(this.head.symref);
  }

  /** Yields `[name, ref]` for every ref whose name starts with `prefix`, in byte order. */
  *entries(prefix: ByteString = NO_BYTES): IterableIterator<[ByteString, Ref]> {
    for (const [name, ref] of this.#tree.entries(prefix)) {
      if (!name.startsWith(prefix)) return;
      yield [name, ref];
    }
  }

  /** Same as `RefsDraft.conflictWith`. */
  conflictWith(name: ByteString): ByteString | undefined {
    return conflictIn(this.#tree, name);
  }

  /** Returns a mutable copy, which later becomes a new `Refs`. `now`: creation time of the refs that it creates. */
  draft(now: number): RefsDraft {
    return new RefsDraft(this.#tree.clone(), now, (tree) => new Refs(tree, this.head));
  }

  /** Returns a copy with the changes applied in order. An id sets the ref; undefined removes it. */
  with(changes: Iterable<readonly [ByteString, Oid | undefined]>, now: number): Refs {
    const draft = this.draft(now);
    for (const [name, oid] of changes) draft.put(name, oid);
    return draft.done();
  }

  withHead(head: Head): Refs {
    return new Refs(this.#tree, head);
  }
}

/** Mutable copy of refs. Many changes share one copy of the map, and each change sees the changes before it. */
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
   * Returns the existing ref that conflicts with a ref `name`: `a` for `a/b`, or `a/b` for `a`. Returns undefined if
   * there is none. Git stores refs as files, so one name cannot be both a file and a folder.
   */
  conflictWith(name: ByteString): ByteString | undefined {
    return conflictIn(this.tree, name);
  }

  /** Sets the ref, or removes it if `oid` is undefined. */
  put(name: ByteString, oid: Oid | undefined): void {
    if (oid === undefined) this.tree.delete(name);
    else this.tree.set(name, { oid, createdAt: this.tree.get(name)?.createdAt ?? this.now });
  }

  /** Returns the refs in their current state. The draft must not be changed afterwards. */
  done(): Refs {
    return this.finish(this.tree);
  }
}

/**
 * Searches in Git's order: first the folders that contain `name`, outermost first, then the refs inside `name`. Skips
 * folders that cannot be refs, because a name may be inside thousands of folders.
 */
function conflictIn(tree: Tree, name: ByteString): ByteString | undefined {
  for (let at = name.indexOf('/'); at !== -1; ) {
    const folder = sliceBytes(name, 0, at);
    const next = tree.getPairOrNextHigher(folder)?.[0];
    if (next === folder) return folder;
    if (next === undefined || next > name) break;
    // Skips the folders that contain both `name` and `next`: such a folder would sort before `next`, but `next` is the
    // first ref at or after `folder`.
    at = name.indexOf('/', Math.max(at + 1, commonLength(name, next)));
  }
  return firstInside(tree, concatBytes(name, SLASH));
}

/** Returns the length of the common prefix of two names in bytes. */
function commonLength(a: ByteString, b: ByteString): number {
  let at = 0;
  while (at < a.length && at < b.length && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  return at;
}

function firstInside(tree: Tree, folder: ByteString): ByteString | undefined {
  const next = tree.nextHigherKey(folder);
  return next?.startsWith(folder) ? next : undefined;
}
