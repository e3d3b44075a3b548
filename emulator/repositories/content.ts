import { TextCache } from '../git/grep/text-cache.js';
import type { ObjectStore, ObjectStoreOptions } from '../git/odb/object-store.js';
import { History } from '../git/revwalk/history.js';
import type { CacheGroup } from '../memory/memory-cache.js';

/** The objects of one repository in one world, and what operations derive from them and keep to be fast. */
export class RepositoryContent {
  readonly history: History;
  private searchTexts: TextCache | undefined;
  private lastKept: KeptContent | undefined;
  private isReleased = false;

  /** It is the caller's, who releases it, and so is `answers`. With `origin`, it starts with what that has. */
  constructor(
    readonly objects: ObjectStore,
    /** Answers that follow from commits alone, by their ids: kept for a repository, they serve its forks as well. */
    readonly answers: CacheGroup,
    origin?: KeptContent,
  ) {
    this.history = origin === undefined ? new History(objects) : origin.history.fork(objects);
    this.lastKept = origin;
  }

  /** What searches share. */
  get texts(): TextCache {
    this.searchTexts ??= new TextCache(this.objects, (number) => this.objects.cachesOf(number));
    return this.searchTexts;
  }

  /** What it has now, for others to start with. The caller holds it. */
  keep(): KeptContent {
    const { lastKept, objects } = this;
    if (lastKept?.isHeld && lastKept.size === objects.size) return lastKept.hold();
    this.lastKept = new KeptContent(objects, this.history, this.answers.hold());
    return this.lastKept;
  }

  /** As `ObjectStore.release`. */
  release(): void {
    if (this.isReleased) return;
    this.isReleased = true;
    this.objects.release();
    this.answers.close();
  }
}

/** The content of a repository as it was at one time: nothing changes it, and any number of contents can start with it. */
export class KeptContent {
  /** What is found out of its commits, for all that start with it. */
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

  /** A content that starts with it and goes on by itself. What that costs does not depend on the objects. */
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
