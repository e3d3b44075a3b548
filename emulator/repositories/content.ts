import { TextCache } from '../git/grep/text-cache.js';
import type { ObjectStore, ObjectStoreOptions } from '../git/odb/object-store.js';
import { History } from '../git/revwalk/history.js';
import type { CacheGroup } from '../memory/memory-cache.js';

/** Git objects of one repository, and caches of data computed from them. */
export class RepositoryContent {
  readonly history: History;
  private searchTexts: TextCache | undefined;
  private lastKept: KeptContent | undefined;
  private isReleased = false;

  /**
   * The caller owns the objects and `answers` and must release them. `origin` is set if the repository is a fork of
   * another one.
   */
  constructor(
    readonly objects: ObjectStore,
    /** Cached responses by commit id. Forks of the repository share them. */
    readonly answers: CacheGroup,
    origin?: KeptContent,
  ) {
    this.history = origin === undefined ? new History(objects) : origin.history.fork(objects);
    this.lastKept = origin;
  }

  /** Decoded texts of files, shared by all searches in the repository. */
  get texts(): TextCache {
    this.searchTexts ??= new TextCache(this.objects, (number) => this.objects.cachesOf(number));
    return this.searchTexts;
  }

  /** Returns the current content as an immutable value, from which forks can start. The caller must release it. */
  keep(): KeptContent {
    const { lastKept, objects } = this;
    if (lastKept?.isHeld && lastKept.size === objects.size) return lastKept.hold();
    this.lastKept = new KeptContent(objects, this.history, this.answers.hold());
    return this.lastKept;
  }

  /** Same as `ObjectStore.release`. */
  release(): void {
    if (this.isReleased) return;
    this.isReleased = true;
    this.objects.release();
    this.answers.close();
  }
}

/**
 * Immutable content of a repository, as it was at one time. Forks of the repository and snapshots start from it and
 * share its objects.
 */
export class KeptContent {
  /** Commit graph and history index, shared by all forks. */
  readonly history: History;
  private readonly objects: ObjectStore;
  private holders = 1;

  constructor(
    objects: ObjectStore,
    history: History,
    private readonly answers: CacheGroup,
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
   * Returns a content that starts with these objects and changes independently (copy-on-write). The cost does not
   * depend on their number.
   */
  fork(options: ObjectStoreOptions): RepositoryContent {
    return new RepositoryContent(this.objects.fork(options), this.answers.hold(), this);
  }

  hold(): this {
    if (this.holders > 0) this.holders++;
    return this;
  }

  release(): void {
    if (this.holders === 0 || --this.holders > 0) return;
    this.objects.release();
    this.answers.close();
  }
}
