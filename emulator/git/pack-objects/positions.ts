/**
 * Value instead of an offset for an object that is not in the pack. No entry starts at 0 or 1, because the pack header
 * precedes all entries.
 */
export const ABSENT = 0;
/** Value instead of an offset for an object that will be in the pack but is not written yet. */
export const PENDING = 1;

/**
 * Offset of each object in a pack that is being written, by object number. At first, the value of each object of the
 * pack is `PENDING`.
 */
export class Positions {
  readonly #positions: Float64Array;
  readonly #first: number;

  /**
   * `numbers`: numbers of the objects that the pack will contain, ascending. `onPosition`: called with the offset of
   * each entry when the writer reaches this entry.
   */
  constructor(
    numbers: Int32Array,
    private readonly onPosition?: (position: number, number: number) => void,
  ) {
    this.#first = numbers[0] ?? 0;
    this.#positions = new Float64Array((numbers.at(-1) ?? -1) - this.#first + 1);
    for (const number of numbers) this.#positions[number - this.#first] = PENDING;
  }

  /**
   * Returns the offset of the object in the pack. Returns `PENDING` if the object is not written yet, and `ABSENT` if
   * the pack does not contain it.
   */
  get(number: number): number {
    return this.#positions[number - this.#first] ?? ABSENT;
  }

  set(number: number, position: number): void {
    this.onPosition?.(position, number);
    this.#positions[number - this.#first] = position;
  }
}
