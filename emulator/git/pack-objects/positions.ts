/**
 * Sentinel for the position of an object that is not in the pack. The pack header precedes all entries, so an entry
 * never starts at 0 or 1.
 */
export const ABSENT = 0;
/** Sentinel for the position of an object that will be in the pack and is not written yet. */
export const PENDING = 1;

/**
 * Offset of each object in a pack that is being written, by object number. Initially, all objects of the pack are
 * `PENDING`.
 */
export class Positions {
  readonly #positions: Float64Array;
  readonly #first: number;

  /**
   * `numbers`: numbers of the objects in the pack, ascending. `onPosition` is called with each offset as soon as it is
   * known.
   */
  constructor(
    numbers: Int32Array,
    private readonly onPosition?: (position: number, number: number) => void,
  ) {
    this.#first = numbers[0] ?? 0;
    this.#positions = new Float64Array((numbers.at(-1) ?? -1) - this.#first + 1);
    for (const number of numbers) this.#positions[number - this.#first] = PENDING;
  }

  /** Returns the offset of the object in the pack, or `PENDING` or `ABSENT`. */
  get(number: number): number {
    return this.#positions[number - this.#first] ?? ABSENT;
  }

  set(number: number, position: number): void {
    this.onPosition?.(position, number);
    this.#positions[number - this.#first] = position;
  }
}
