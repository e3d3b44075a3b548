import type { BufferCache } from './buffer-cache.js';

/**
 * The zlib streams that had to be made for packs of one store, by object and base (`WHOLE` for none).
 * An empty one says that a delta on that base is not worth it.
 */
export class RecodedStreams {
  readonly #space: number;

  constructor(private readonly cache: BufferCache<string>) {
    this.#space = cache.newSpace();
  }

  get(number: number, base: number): Buffer | undefined {
    return this.cache.get(`${this.#space} ${number} ${base}`);
  }

  set(number: number, base: number, stream: Buffer): void {
    this.cache.set(`${this.#space} ${number} ${base}`, stream);
  }
}
