import { type CacheGroup, type CacheRegion, costOfBuffer } from '../memory/memory-cache.js';
import { BodyCache } from './body-cache.js';

/** What is kept of the objects of one table, by number, only to be fast. */
export class TableCaches {
  #bodies: BodyCache | undefined;
  #streams: CacheRegion<string, Buffer> | undefined;

  constructor(readonly group: CacheGroup) {}

  get bodies(): BodyCache {
    this.#bodies ??= new BodyCache(this.group);
    return this.#bodies;
  }

  /** See `RepackCache`. */
  get streams(): CacheRegion<string, Buffer> {
    this.#streams ??= this.group.region(costOfBuffer);
    return this.#streams;
  }
}
