import { withRoom } from './growable.js';

/** Growable list of 32-bit integers. One typed array stores them, which takes less memory than an array of numbers. */
export class IntList {
  #items: Int32Array;
  #length = 0;

  constructor(capacity = 16) {
    this.#items = new Int32Array(capacity);
  }

  get length(): number {
    return this.#length;
  }

  at(index: number): number {
    return this.#items[index]!;
  }

  set(index: number, value: number): void {
    this.#items[index] = value;
  }

  push(value: number): void {
    if (this.#length === this.#items.length) this.#items = withRoom(this.#items, this.#length + 1);
    this.#items[this.#length++] = value;
  }

  /** Removes and returns the last item. The list must not be empty. */
  pop(): number {
    return this.#items[--this.#length]!;
  }

  append(values: Int32Array): void {
    const length = this.#length + values.length;
    this.#items = withRoom(this.#items, length);
    this.#items.set(values, this.#length);
    this.#length = length;
  }

  clear(): void {
    this.#length = 0;
  }

  /**
   * Returns the items from index `start` to `end` (exclusive) without copying them. The next change of the list may
   * invalidate the result.
   */
  view(start = 0, end = this.#length): Int32Array {
    return this.#items.subarray(start, end);
  }
}
