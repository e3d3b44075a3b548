import { TextCache } from '../git/grep/text-cache.js';
import type { ObjectStore, ObjectStoreOptions } from '../git/odb/object-store.js';
import { History } from '../git/revwalk/history.js';
import type { CacheGroup } from '../memory/memory-cache.js';

/** Objects of one repository in one world, and caches of data derived from them. */
export class RepositoryContent {
  readonly history: History;
  private searchTexts: TextCache | undefined;
  private lastKept: KeptContent | undefined;
  private isReleased = false;

  /** The caller owns the objects and `answers`, and releases them. `origin`: content that this one is a fork of. */
  constructor(
    readonly objects: ObjectStore,
    /** Cached responses by commit id. Forks of the repository share them. */
    readonly answers: CacheGroup,
    origin?: KeptContent,
  ) {
    this.history = origin === undefined ? new History(objects) : origin.history.fork(objects);
    this.lastKept = origin;
  }

  /** Texts shared by all searches. */
  get texts(): TextCache {
    this.searchTexts ??= new TextCache(this.objects, (number) => this.objects.cachesOf(number));
    return this.searchTexts;
  }

  /** Returns an immutable copy of the current content for forks. The caller holds it. */
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

/** Immutable content of a repository at one time. Any number of contents can be forked from it. */
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
   * Returns a content that starts with this one and changes independently. The cost does not depend on the number of
   * objects.
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
