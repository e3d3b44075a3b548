import type { TreeEntries } from './tree-entries.js';

/**
 * Merge join of two versions of a folder, in Git's order of tree entries. Skips entries that are equal in both versions
 * unless `withEqual` is set.
 */
export class TreeMergeJoin {
  /** Indexes of the current entry in both versions. */
  before = -1;
  after = -1;
  /**
   * Negative: the current entry is only in `left`. Positive: only in `right`. 0: in both, and either both are trees or
   * neither is.
   */
  order = 0;
  /** Number of equal entries that were skipped. */
  compared = 0;

  constructor(
    readonly left: TreeEntries | undefined,
    readonly right: TreeEntries | undefined,
    readonly withEqual = false,
  ) {}

  /** Moves to the next entry. Returns false at the end. */
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

  /**
   * True if the current entry has the same object and mode in both versions. Compares canonical modes, because a mode
   * may be stored in two ways.
   */
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
