import { type CacheGroup, type CacheRegion, costOfBuffer } from '../memory/memory-cache.js';

/**
 * The zlib streams that had to be made for packs of one store, by object and base (`UNDELTIFIED` for a whole object).
 * An empty one says that a delta on that base is not worth it.
 */
export class RepackCache {
  readonly #streams: CacheRegion<string, Buffer>;

  constructor(caches: CacheGroup) {
    this.#streams = caches.region(costOfBuffer);
  }

  get(number: number, base: number): Buffer | undefined {
    return this.#streams.get(`${number} ${base}`);
  }

  set(number: number, base: number, stream: Buffer): void {
    this.#streams.set(`${number} ${base}`, stream);
  }
}
