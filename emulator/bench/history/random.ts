/** Deterministic random numbers: the same seed gives the same numbers on every machine (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Returns a number that is at least 0 and below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns an integer that is at least 0 and below `bound`. */
  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  between(min: number, max: number): number {
    return min + this.below(max - min + 1);
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }
}
