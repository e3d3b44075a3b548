/** Position of an object that is not in the pack. Entries start behind the header, so no position is as small. */
export const ABSENT = 0;
/** Position of an object that is not written yet. */
export const PENDING = 1;

/** The position of each object in a pack that is being written. All objects are `PENDING` at first. */
export class Positions {
  readonly #positions: Float64Array;
  readonly #first: number;

  /** `numbers` are ascending. `tell` is told each position as it becomes known. */
  constructor(
    numbers: Int32Array,
    private readonly tell?: (position: number, number: number) => void,
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
    this.tell?.(position, number);
    this.#positions[number - this.#first] = position;
  }
}
