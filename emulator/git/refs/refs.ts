import sortedBTree from 'sorted-btree';
import { type ByteString, bytesOf, concatBytes, NO_BYTES, SLASH, sliceBytes } from '../object/bytes.js';
import type { Oid } from '../object/object.js';
import { byBytes } from '../object/sort.js';

/** Where HEAD points: at a ref by name (which may not exist yet), or straight at a commit. */
export type Head = { readonly symref: ByteString } | { readonly oid: Oid };

export interface Ref {
  readonly oid: Oid;
  /** When the ref came into being, milliseconds on the world's clock. */
  readonly createdAt: number;
}

const HEADS = bytesOf('refs/heads/');

// The package is CommonJS: under Node's ES modules its class is the `default` member of its exports.
const BTree = sortedBTree.default;
type Tree = sortedBTree.default<ByteString, Ref>;

/**
 * All refs of one repository at one moment: an immutable sorted map from full ref name to object id.
 * Keeping a `Refs` pins what it shows; a change is a new `Refs` that shares everything else.
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

  /** What HEAD resolves to; undefined while its branch is unborn. */
  get headOid(): Oid | undefined {
    return 'oid' in this.head ? this.head.oid : this.get(this.head.symref);
  }

  /** `[name, ref]` of every ref whose name starts with `prefix`, in byte order. */
  *entries(prefix: ByteString = NO_BYTES): IterableIterator<[ByteString, Ref]> {
    for (const [name, ref] of this.#tree.entries(prefix)) {
      if (!name.startsWith(prefix)) return;
      yield [name, ref];
    }
  }

  /** As `RefsDraft.conflictWith`. */
  conflictWith(name: ByteString): ByteString | undefined {
    return conflictIn(this.#tree, name);
  }

  /** A copy to be changed; what it becomes is another `Refs`. `now`: when refs that it creates came into being. */
  draft(now: number): RefsDraft {
    return new RefsDraft(this.#tree.clone(), now, (tree) => new Refs(tree, this.head));
  }

  /** With each change applied in order: an id sets the ref, undefined removes it. */
  with(changes: Iterable<readonly [ByteString, Oid | undefined]>, now: number): Refs {
    const draft = this.draft(now);
    for (const [name, oid] of changes) draft.put(name, oid);
    return draft.done();
  }

  withHead(head: Head): Refs {
    return new Refs(this.#tree, head);
  }
}

/** Refs while they are changed: one copy of the map for many changes, each of which sees those before it. */
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
   * The ref that keeps `name` from existing beside it: `a` for `a/b`, or `a/b` for `a`.
   * Git stores refs as files, so one name cannot be both a file and a folder.
   */
  conflictWith(name: ByteString): ByteString | undefined {
    return conflictIn(this.tree, name);
  }

  /** Sets the ref, or, without an id, removes it. */
  put(name: ByteString, oid: Oid | undefined): void {
    if (oid === undefined) this.tree.delete(name);
    else this.tree.set(name, { oid, createdAt: this.tree.get(name)?.createdAt ?? this.now });
  }

  /** The refs as they are now. The draft must not be changed afterwards. */
  done(): Refs {
    return this.finish(this.tree);
  }
}

/**
 * In the order in which Git looks: the folders that `name` is in, outermost first, and then what is inside of it. A name
 * may lie in thousands of folders, so those are passed over that cannot be refs.
 */
function conflictIn(tree: Tree, name: ByteString): ByteString | undefined {
  for (let at = name.indexOf('/'); at !== -1; ) {
    const folder = sliceBytes(name, 0, at);
    const next = tree.getPairOrNextHigher(folder)?.[0];
    if (next === folder) return folder;
    if (next === undefined || next > name) break;
    // A folder of both would come before `next`, which is the first from `folder` on.
    at = name.indexOf('/', Math.max(at + 1, commonLength(name, next)));
  }
  return firstInside(tree, concatBytes(name, SLASH));
}

/** How many bytes two names begin with that are the same. */
function commonLength(a: ByteString, b: ByteString): number {
  let at = 0;
  while (at < a.length && at < b.length && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  return at;
}

function firstInside(tree: Tree, folder: ByteString): ByteString | undefined {
  const next = tree.nextHigherKey(folder);
  return next?.startsWith(folder) ? next : undefined;
}
