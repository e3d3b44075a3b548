import { NONE } from '../object/tree-cursor.js';
import type { PreviousVersions } from '../pack-objects/delta-choice.js';

/** Where one in so many of the objects has an entry, an array is smaller and quicker than a map. */
const DENSE = 16;

/** A table for the objects below `bound`, about `count` of which will have an entry. */
export function createPreviousVersions(
  bound: number,
  count: number,
): PreviousVersions & { set(object: number, previous: number): void } {
  return count * DENSE < bound ? new Map<number, number>() : new DenseVersions(bound);
}

class DenseVersions {
  readonly #previous: Int32Array;

  constructor(bound: number) {
    this.#previous = new Int32Array(bound).fill(NONE);
  }

  get(object: number): number | undefined {
    const previous = this.#previous[object]!;
    return previous === NONE ? undefined : previous;
  }

  set(object: number, previous: number): void {
    this.#previous[object] = previous;
  }
}
