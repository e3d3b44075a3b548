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
  private searchTexts: TextCache | undefined;
  private blameMemory: BlameMemory | undefined;
  private metadataTexts: CacheRegion<string, Buffer> | undefined;

  constructor(readonly objects: ObjectStore) {
    this.history = new History(objects);
  }

  /** What searches share. */
  get texts(): TextCache {
    this.searchTexts ??= new TextCache(this.objects, { caches: this.objects.caches });
    return this.searchTexts;
  }

  get blames(): BlameMemory {
    this.blameMemory ??= new BlameMemory(this.objects.caches);
    return this.blameMemory;
  }

  /** Answers of file metadata. */
  get metadata(): CacheRegion<string, Buffer> {
    this.metadataTexts ??= this.objects.caches.region(costOfBuffer);
    return this.metadataTexts;
  }

  /** As `ObjectStore.release`. */
  release(): void {
    this.objects.release();
  }
}
