import type { ObjectTable } from './object-table.js';

/**
 * Cache of compressed (deflated) objects and deltas that were produced for packs sent to clients. The key is the object
 * number and the object number of its delta base (`UNDELTIFIED` for a whole object). An empty stream means that a delta
 * on that base saves too little. Stores that share objects (forks) also share their streams.
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
