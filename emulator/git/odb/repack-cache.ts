import type { ObjectTable } from './object-table.js';

/**
 * Cache of zlib streams that were deflated for packs of one store, by object and base (`UNDELTIFIED` for a whole
 * object). An empty stream means that a delta on that base is not worthwhile. Streams of shared objects are shared
 * between stores.
 */
export class RepackCache {
  constructor(private readonly objects: ObjectTable) {}

  get(number: number, base: number): Buffer | undefined {
    return this.#regionOf(number, base).get(`${number} ${base}`);
  }

  set(number: number, base: number, stream: Buffer): void {
    this.#regionOf(number, base).set(`${number} ${base}`, stream);
  }

  #regionOf(number: number, base: number) {
    return this.objects.tableOf(Math.max(number, base)).caches.streams;
  }
}
