import { BlameMemory } from '../git/blame/blame-memory.js';
import { TextCache } from '../git/grep/text-cache.js';
import { type CacheRegion, costOfBuffer } from '../git/memory/memory-cache.js';
import type { ObjectStore } from '../git/odb/object-store.js';
import { History } from '../git/revwalk/history.js';

/**
 * The objects of one repository, and what operations derive from them and keep to be fast. All of it follows from the
 * objects, so a repository that a restore finds unchanged goes on with it.
 */
export class RepositoryContent {
  readonly history: History;
  /** Snapshots that the objects are part of. */
  snapshots = 0;
  #texts: TextCache | undefined;
  #blames: BlameMemory | undefined;
  #metadata: CacheRegion<string, Buffer> | undefined;

  constructor(readonly objects: ObjectStore) {
    this.history = new History(objects);
  }

  /** What searches share. */
  get texts(): TextCache {
    this.#texts ??= new TextCache(this.objects, { caches: this.objects.caches });
    return this.#texts;
  }

  get blames(): BlameMemory {
    this.#blames ??= new BlameMemory(this.objects.caches);
    return this.#blames;
  }

  /** Answers of file metadata. */
  get metadata(): CacheRegion<string, Buffer> {
    this.#metadata ??= this.objects.caches.region(costOfBuffer);
    return this.#metadata;
  }

  /** Gives everything back to the budgets. Readers under way end with what they hold. */
  release(): void {
    const { budget } = this.objects.stored;
    budget.give(budget.used);
    this.objects.caches.close();
  }
}
