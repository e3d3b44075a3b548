/** Of a number that is not in the pack. */
export const ABSENT = -1;
/** Of an object that is to come. */
export const PENDING = 0;

/** Where in a pack under way each of its objects starts. */
export interface Positions {
  /** The position, `PENDING` or `ABSENT`. */
  get(number: number): number;
  set(number: number, position: number): void;
}

/** Positions for a set of numbers, which all start as `PENDING`. */
export function createPositions(numbers: Int32Array): Positions {
  const first = numbers[0] ?? 0;
  const span = (numbers.at(-1) ?? first) - first + 1;
  return span <= numbers.length * 16 ? new DensePositions(numbers, first, span) : new SparsePositions(numbers);
}

/** The same positions, of which each is told as it becomes known. */
export function tellPositions(positions: Positions, tell: (position: number, number: number) => void): Positions {
  return {
    get: (number) => positions.get(number),
    set(number, position) {
      tell(position, number);
      positions.set(number, position);
    },
  };
}

class DensePositions implements Positions {
  readonly #positions: Float64Array;

  constructor(
    numbers: Int32Array,
    private readonly first: number,
    span: number,
  ) {
    this.#positions = new Float64Array(span).fill(ABSENT);
    for (const number of numbers) this.#positions[number - first] = PENDING;
  }

  get(number: number): number {
    return this.#positions[number - this.first] ?? ABSENT;
  }

  set(number: number, position: number): void {
    this.#positions[number - this.first] = position;
  }
}

class SparsePositions implements Positions {
  readonly #positions = new Map<number, number>();

  constructor(numbers: Int32Array) {
    for (const number of numbers) this.#positions.set(number, PENDING);
  }

  get(number: number): number {
    return this.#positions.get(number) ?? ABSENT;
  }

  set(number: number, position: number): void {
    this.#positions.set(number, position);
  }
}
