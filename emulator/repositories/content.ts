import type { BlameMemory } from '../git/blame/blame-memory.js';
import { TextCache } from '../git/grep/text-cache.js';
import type { CacheRegion } from '../git/memory/memory-cache.js';
import type { ObjectStore, ObjectStoreOptions, StoreMark } from '../git/odb/object-store.js';
import { History } from '../git/revwalk/history.js';
import type { AnswerCaches } from './answer-caches.js';

/** The objects of one repository in one world, and what operations derive from them and keep to be fast. */
export class RepositoryContent {
  readonly history: History;
  private searchTexts: TextCache | undefined;
  private isReleased = false;

  /** It is the caller's, who releases it. So is `answers`, which it holds from here on. */
  constructor(
    readonly objects: ObjectStore,
    private readonly answers: AnswerCaches,
  ) {
    this.history = new History(objects);
  }

  /** What searches share. */
  get texts(): TextCache {
    this.searchTexts ??= new TextCache(this.objects, { caches: this.objects.caches });
    return this.searchTexts;
  }

  get blames(): BlameMemory {
    return this.answers.blames;
  }

  /** Answers of file metadata. */
  get metadata(): CacheRegion<string, Buffer> {
    return this.answers.metadata;
  }

  /** What it has now, for others to start with. The caller holds it. */
  keep(): KeptContent {
    return new KeptContent(this.objects, this.objects.mark(), this.answers.hold());
  }

  /** As `ObjectStore.release`. */
  release(): void {
    if (this.isReleased) return;
    this.isReleased = true;
    this.objects.release();
    this.answers.release();
  }
}

/** The content of a repository as it was at one time: nothing changes it, and any number of contents can start with it. */
export class KeptContent {
  private holders = 1;

  constructor(
    private readonly source: ObjectStore,
    private readonly mark: StoreMark,
    private readonly answers: AnswerCaches,
  ) {}

  get size(): number {
    return this.mark.count;
  }

  get heldBytes(): number {
    return this.mark.heldBytes;
  }

  /** A content that starts with it and goes on by itself. What that costs does not depend on the objects. */
  fork(options: ObjectStoreOptions): RepositoryContent {
    return new RepositoryContent(this.source.fork(this.mark, options), this.answers.hold());
  }

  hold(): this {
    this.holders++;
    return this;
  }

  release(): void {
    if (--this.holders !== 0) return;
    this.mark.release();
    this.answers.release();
  }
}
