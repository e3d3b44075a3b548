import { TextCache } from '../git/grep/text-cache.js';
import type { ObjectStore, ObjectStoreOptions } from '../git/odb/object-store.js';
import { History } from '../git/revwalk/history.js';
import type { CacheGroup } from '../memory/memory-cache.js';

/** Git objects of one repository, with caches of data that is computed from them. */
export class RepositoryContent {
  readonly history: History;
  private searchTexts: TextCache | undefined;
  private lastKept: KeptContent | undefined;
  private isReleased = false;

  /**
   * Takes ownership of `objects` and `answers`; `release` releases both. `origin` is the content from which a fork
   * starts; undefined for a new repository.
   */
  constructor(
    readonly objects: ObjectStore,
    /** Cache of responses by commit id. It is shared with all forks of the repository. */
    readonly responses: CacheGroup,
    origin?: KeptContent,
  ) {
    this.history = origin === undefined ? new History(objects) : origin.history.fork(objects);
    this.lastKept = origin;
  }

  /** Cache of decoded file texts. All searches in the repository share it. */
  get texts(): TextCache {
    this.searchTexts ??= new TextCache(this.objects, (number) => this.objects.cachesOf(number));
    return this.searchTexts;
  }

  /**
   * Returns the current content as an immutable value, from which forks can start. Returns the previous value if no
   * objects were added since. The caller must release the value.
   */
  keep(): KeptContent {
    const { lastKept, objects } = this;
    if (lastKept?.isHeld && lastKept.size === objects.size) return lastKept.hold();
    this.lastKept = new KeptContent(objects, this.history, this.responses.hold());
    return this.lastKept;
  }

  /** Releases the objects and the cached responses. Only the first call has an effect. */
  release(): void {
    if (this.isReleased) return;
    this.isReleased = true;
    this.objects.release();
    this.responses.close();
  }
}

/**
 * Immutable Git content of a repository at one point in time. Forks and snapshots start from it and share its objects.
 * `holders` is its reference count.
 */
export class KeptContent {
  /** Commit graph and history index. All forks share them. */
  readonly history: History;
  private readonly objects: ObjectStore;
  private holders = 1;

  constructor(
    objects: ObjectStore,
    history: History,
    private readonly responses: CacheGroup,
  ) {
    this.objects = objects.fork();
    this.history = history.kept(this.objects);
  }

  get isHeld(): boolean {
    return this.holders > 0;
  }

  get size(): number {
    return this.objects.size;
  }

  get heldBytes(): number {
    return this.objects.heldBytes;
  }

  /**
   * Returns a copy-on-write copy. It starts with the same objects; later changes affect only one of the two. The cost
   * does not depend on the number of objects.
   */
  fork(options: ObjectStoreOptions): RepositoryContent {
    return new RepositoryContent(this.objects.fork(options), this.responses.hold(), this);
  }

  hold(): this {
    if (this.holders > 0) this.holders++;
    return this;
  }

  release(): void {
    if (this.holders === 0 || --this.holders > 0) return;
    this.objects.release();
    this.responses.close();
  }
}
