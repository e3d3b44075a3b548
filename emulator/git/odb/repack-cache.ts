import type { ObjectTable } from './object-table.js';

/**
 * The zlib streams that had to be made for packs of one store, by object and base (`UNDELTIFIED` for a whole object).
 * An empty one says that a delta on that base is not worth it. Those of shared objects are shared.
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
