import sortedBTree from 'sorted-btree';

/** One file that one person has to themselves. */
export interface LfsLock {
  readonly id: string;
  /** Relative to the root of the work tree. */
  readonly path: string;
  /** Who asked for it: the `sub` of their token. */
  readonly owner: string;
  /** Milliseconds on the world's clock. */
  readonly lockedAt: number;
}

const BTree = sortedBTree.default;
type SortedMap<K, V> = sortedBTree.default<K, V>;

/** The locks of one repository: an immutable value. A path has one lock, whatever the branch. */
export class LfsLocks {
  static readonly none = new LfsLocks(new BTree(), new BTree());

  private constructor(
    private readonly byPath: SortedMap<string, LfsLock>,
    private readonly paths: SortedMap<string, string>,
  ) {}

  get size(): number {
    return this.byPath.size;
  }

  at(path: string): LfsLock | undefined {
    return this.byPath.get(path);
  }

  get(id: string): LfsLock | undefined {
    const path = this.paths.get(id);
    return path === undefined ? undefined : this.byPath.get(path);
  }

  /** By path, after `after`. */
  *list(after?: string): IterableIterator<LfsLock> {
    for (const [path, lock] of this.byPath.entries(after)) if (path !== after) yield lock;
  }

  with(lock: LfsLock): LfsLocks {
    return new LfsLocks(this.byPath.with(lock.path, lock, true), this.paths.with(lock.id, lock.path, true));
  }

  without({ id, path }: LfsLock): LfsLocks {
    return new LfsLocks(this.byPath.without(path), this.paths.without(id));
  }
}
