import type { BufferCache } from './buffer-cache.js';
import type { Scratch } from './scratch.js';

/**
 * The zlib streams that had to be made for packs of one store, by object and base (`WHOLE` for none).
 * An empty one says that a delta on that base is not worth it.
 */
export class RecodedStreams {
  readonly #space: number;

  constructor(
    private readonly cache: BufferCache<string>,
    private readonly scratch: Scratch,
  ) {
    this.#space = cache.newSpace();
  }

  /** Makes one, to be kept by `set`. */
  deflate(body: Buffer): Buffer | Promise<Buffer> {
    return this.scratch.deflater.deflate(body);
  }

  get(number: number, base: number): Buffer | undefined {
    return this.cache.get(`${this.#space} ${number} ${base}`);
  }

  set(number: number, base: number, stream: Buffer): void {
    this.cache.set(`${this.#space} ${number} ${base}`, stream);
  }
}
