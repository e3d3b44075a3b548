/** Bit set of the integers from 0 to a fixed bound (exclusive). */
export class NumberSet {
  readonly #words: Uint32Array;

  constructor(readonly bound: number) {
    this.#words = new Uint32Array((bound + 31) >>> 5);
  }

  has(number: number): boolean {
    return (this.#words[number >>> 5]! & (1 << (number & 31))) !== 0;
  }

  /** Adds a number. Returns true if the set did not contain it. */
  add(number: number): boolean {
    const word = number >>> 5;
    const bit = 1 << (number & 31);
    const old = this.#words[word]!;
    this.#words[word] = old | bit;
    return (old & bit) === 0;
  }

  delete(number: number): void {
    this.#words[number >>> 5]! &= ~(1 << (number & 31));
  }

  /** Returns the smallest number in the set that is at least `from`; -1 if none. */
  next(from: number): number {
    let word = from >>> 5;
    let bits = (this.#words[word] ?? 0) & (-1 << (from & 31));
    while (bits === 0) {
      if (++word >= this.#words.length) return -1;
      bits = this.#words[word]!;
    }
    return word * 32 + 31 - Math.clz32(bits & -bits);
  }

  addAll(other: NumberSet): void {
    for (let word = 0; word < other.#words.length; word++) this.#words[word]! |= other.#words[word]!;
  }

  deleteAll(other: NumberSet): void {
    for (let word = 0; word < other.#words.length; word++) this.#words[word]! &= ~other.#words[word]!;
  }

  /** Returns the numbers in the set in ascending order. */
  numbers(): Int32Array {
    const numbers = new Int32Array(this.count());
    let length = 0;
    for (let word = 0; word < this.#words.length; word++) {
      for (let bits = this.#words[word]!; bits !== 0; bits &= bits - 1) {
        numbers[length++] = word * 32 + 31 - Math.clz32(bits & -bits);
      }
    }
    return numbers;
  }

  count(): number {
    let count = 0;
    for (const word of this.#words) {
      let bits = word - ((word >>> 1) & 0x55555555);
      bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
      count += (((bits + (bits >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
    }
    return count;
  }
}
