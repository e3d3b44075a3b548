import { type CacheGroup, type CacheRegion, costOfBuffer } from '../memory/memory-cache.js';

/** The inflated bodies of one store. Those of the quarantine are apart, because their numbers are not final. */
export class BodyCache {
  #count = 0;
  readonly #published: CacheRegion<number, Buffer>;
  readonly #quarantined: CacheRegion<number, Buffer>;

  constructor(caches: CacheGroup) {
    this.#published = caches.region(costOfBuffer);
    this.#quarantined = caches.region(costOfBuffer);
  }

  get(number: number): Buffer | undefined {
    return this.#regionOf(number).get(number);
  }

  set(number: number, body: Buffer): void {
    this.#regionOf(number).set(number, body);
  }

  /** From now on the first `count` numbers are final. */
  publish(count: number): void {
    this.#count = count;
    this.forgetQuarantine();
  }

  forgetQuarantine(): void {
    this.#quarantined.clear();
  }

  #regionOf(number: number): CacheRegion<number, Buffer> {
    return number < this.#count ? this.#published : this.#quarantined;
  }
}
