import type { ObjectTable } from './object-table.js';

/**
 * Cache of compressed (deflated) objects and deltas that were produced for packs sent to clients. The key consists of
 * the object number and the number of the delta base, which is `UNDELTIFIED` for a whole object.
 *
 * An empty stream means that a delta on this base saves too little. Stores that share objects (forks) also share the
 * streams of these objects.
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
