import type { BufferCache } from './buffer-cache.js';

/** Numbers in one space of keys. An object with a larger number is not cached. */
const NUMBERS = 2 ** 26;

/**
 * The inflated bodies of one store, in a cache that other stores may share. Published objects and those
 * of the quarantine have a space of keys each, because the numbers of the latter are not final.
 */
export class BodyCache {
  #published = 0;
  #publishedSpace: number;
  #quarantineSpace: number;

  constructor(private readonly cache: BufferCache<number>) {
    this.#publishedSpace = cache.newSpace();
    this.#quarantineSpace = cache.newSpace();
  }

  get(number: number): Buffer | undefined {
    return this.cache.get(this.#keyOf(number));
  }

  set(number: number, body: Buffer): void {
    if (number < NUMBERS) this.cache.set(this.#keyOf(number), body);
  }

  /** From now on the first `count` numbers are final. */
  publish(count: number): void {
    this.#published = count;
    this.forgetQuarantine();
  }

  forgetQuarantine(): void {
    this.#quarantineSpace = this.cache.newSpace();
  }

  forgetAll(): void {
    this.#publishedSpace = this.cache.newSpace();
    this.forgetQuarantine();
  }

  #keyOf(number: number): number {
    return (number < this.#published ? this.#publishedSpace : this.#quarantineSpace) * NUMBERS + number;
  }
}
