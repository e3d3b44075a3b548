import { BufferCache } from './buffer-cache.js';

/** Bytes of zlib streams kept. */
const CAPACITY = 16 * 1024 * 1024;
/** More than there can be objects. */
const NUMBERS = 2 ** 31;

/**
 * The zlib streams that had to be made for a pack, by object and base (`WHOLE` for none). An empty one
 * says that a delta on that base is not worth it.
 */
export class RecodedCache {
  readonly #streams = new BufferCache(CAPACITY);

  get(number: number, base: number): Buffer | undefined {
    return this.#streams.get(keyOf(number, base));
  }

  set(number: number, base: number, stream: Buffer): void {
    this.#streams.set(keyOf(number, base), stream);
  }
}

function keyOf(number: number, base: number): number {
  return number * NUMBERS + base + 1;
}
