import type { TreeEntries } from './tree-entries.js';

/**
 * Two versions of a folder in lock step, in Git's order of tree entries. Entries that are the same in both are passed over, unless
 * `withEqual`.
 */
export class EntriesPair {
  /** Where both stand. */
  before = -1;
  after = -1;
  /** Below 0: only `before` stands at the entry, above: only `after`. 0: both, of which both are trees or neither is. */
  order = 0;
  /** Entries that were passed over. */
  compared = 0;

  constructor(
    readonly left: TreeEntries | undefined,
    readonly right: TreeEntries | undefined,
    readonly withEqual = false,
  ) {}

  /** Goes to the next entry; false at the end. */
  next(): boolean {
    const { left, right, order } = this;
    if (order <= 0) this.before++;
    if (order >= 0) this.after++;
    if (order === 0 && !this.withEqual && left !== undefined && right !== undefined)
      this.#skipEqual(left.cells, right.cells);
    const hasBefore = left !== undefined && this.before < left.length;
    const hasAfter = right !== undefined && this.after < right.length;
    if (hasBefore) {
      this.order = hasAfter ? left.names.order(left.keyAt(this.before), right.keyAt(this.after)) : -1;
    } else this.order = 1;
    return hasBefore || hasAfter;
  }

  /** Whether both have the same at the entry: modes may be stored in two ways. */
  get isSame(): boolean {
    const { left, right, before, after } = this;
    if (this.order !== 0 || left === undefined || right === undefined) return false;
    return left.objectAt(before) === right.objectAt(after) && left.modeAt(before) === right.modeAt(after);
  }

  #skipEqual(left: Int32Array, right: Int32Array): void {
    let a = this.before * 2;
    let b = this.after * 2;
    const end = Math.min(left.length, right.length + a - b);
    const first = a;
    while (a < end && left[a] === right[b] && left[a + 1] === right[b + 1]) {
      a += 2;
      b += 2;
    }
    this.compared += (a - first) >> 1;
    this.before = a >> 1;
    this.after = b >> 1;
  }
}
