import type { CacheGroup, CacheRegion } from '../../memory/memory-cache.js';

/**
 * Cache of values computed from the objects of one store, by object number. Values of quarantined objects (received,
 * but not yet visible) are kept separately, because these objects may be renumbered or discarded.
 */
export class ObjectCache<Value> {
  #count = 0;
  readonly #published: CacheRegion<number, Value>;
  readonly #quarantined: CacheRegion<number, Value>;

  constructor(caches: CacheGroup, costOf: (value: Value) => number) {
    this.#published = caches.region(costOf);
    this.#quarantined = caches.region(costOf);
  }

  get(number: number): Value | undefined {
    return this.#regionOf(number).get(number);
  }

  set(number: number, value: Value): void {
    this.#regionOf(number).set(number, value);
  }

  /**
   * Variant of `set` that ignores values of quarantined objects (received, but not yet visible), because their numbers
   * may still change.
   */
  setFinal(number: number, value: Value): void {
    if (number < this.#count) this.#published.set(number, value);
  }

  /**
   * Makes the first `count` object numbers final. Called when quarantined objects become visible; they keep their
   * numbers from then on.
   */
  publish(count: number): void {
    this.#count = count;
    this.#quarantined.moveTo(this.#published, (number) => number);
  }

  /** Renumbers the cached values of quarantined objects. The object `first + at` gets the number `moved[at]`. */
  renumber(first: number, moved: Int32Array): void {
    this.#quarantined.moveTo(this.#quarantined, (number) => (number < first ? number : moved[number - first]!));
  }

  forgetQuarantine(): void {
    this.#quarantined.clear();
  }

  #regionOf(number: number): CacheRegion<number, Value> {
    return number < this.#count ? this.#published : this.#quarantined;
  }
}
