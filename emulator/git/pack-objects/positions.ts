/**
 * Sentinel position of an object that is not in the pack. Entries start after the pack header, so no real position is
 * so small.
 */
export const ABSENT = 0;
/** Sentinel position of an object that is not written yet. */
export const PENDING = 1;

/** Position of each object in a pack that is being written. Initially, all objects are `PENDING`. */
export class Positions {
  readonly #positions: Float64Array;
  readonly #first: number;

  /** `numbers` must be ascending. `tell` is called with each position as it becomes known. */
  constructor(
    numbers: Int32Array,
    private readonly onPosition?: (position: number, number: number) => void,
  ) {
    this.#first = numbers[0] ?? 0;
    this.#positions = new Float64Array((numbers.at(-1) ?? -1) - this.#first + 1);
    for (const number of numbers) this.#positions[number - this.#first] = PENDING;
  }

  /** Returns the position, `PENDING` or `ABSENT`. */
  get(number: number): number {
    return this.#positions[number - this.#first] ?? ABSENT;
  }

  set(number: number, position: number): void {
    this.onPosition?.(position, number);
    this.#positions[number - this.#first] = position;
  }
}
