import type { TreeEntries } from './tree-entries.js';

/**
 * Iterator that merges the entries of two versions of a folder (merge join), in Git's order of tree entries. Entries
 * that are equal in both versions are skipped unless `withEqual` is set.
 */
export class TreeMergeJoin {
  /** Indexes of the current entry: `before` in `left`, `after` in `right`. */
  before = -1;
  after = -1;
  /**
   * Tells which versions contain the current entry. Negative: only `left`. Positive: only `right`. 0: both versions,
   * either as a tree in both or as a non-tree in both.
   */
  order = 0;
  /** Number of entries that were skipped because they are equal in both versions. */
  compared = 0;

  constructor(
    readonly left: TreeEntries | undefined,
    readonly right: TreeEntries | undefined,
    readonly withEqual = false,
  ) {}

  /** Moves to the next entry of either version. Returns false after the last entry. */
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
   * True if the current entry has equal objects and equal modes in both versions. Canonical modes are compared, because
   * one mode may be stored in two ways.
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
