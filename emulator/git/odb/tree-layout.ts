import { withRoom } from '../../memory/growable.js';
import { lastUpTo } from '../../memory/sorted.js';

/**
 * Entries of a tree with their positions in its body. It is kept while deltas on the tree are resolved. Entries that a
 * delta copies then need not be parsed again.
 */
export class TreeLayout {
  length = 0;
  /** True if the check of the tree found no defect. The check corresponds to `git fsck`. */
  isFlawless = false;
  /** Offset in bytes of each entry in the body of the tree. One additional element contains the length of the body. */
  starts = new Int32Array(64);
  /**
   * Two integers for each entry: its key and its target. The key stands for name and mode (see `TreeNames`). The target
   * is an index in the `EdgeList`.
   */
  cells = new Int32Array(128);

  /** Grows the arrays to a capacity of at least `entries` entries. Existing entries are kept. */
  reserve(entries: number): void {
    if (entries < this.starts.length) return;
    this.starts = withRoom(this.starts, entries + 1);
    this.cells = withRoom(this.cells, this.starts.length * 2);
  }

  add(start: number, key: number, target: number): void {
    const at = this.length++;
    this.reserve(this.length);
    this.starts[at] = start;
    this.cells[at * 2] = key;
    this.cells[at * 2 + 1] = target;
  }

  /**
   * Adds the entries `from` to `to` (exclusive) of another tree, `base`. `start` is the offset in this tree at which
   * the first of them starts.
   */
  addRun(base: TreeLayout, from: number, to: number, start: number): void {
    const at = this.length;
    this.length += to - from;
    this.reserve(this.length);
    const shift = start - base.starts[from]!;
    for (let index = from, own = at; index < to; index++, own++) {
      this.starts[own] = base.starts[index]! + shift;
      this.cells[own * 2] = base.cells[index * 2]!;
      this.cells[own * 2 + 1] = base.cells[index * 2 + 1]!;
    }
  }

  end(at: number): void {
    this.reserve(this.length);
    this.starts[this.length] = at;
  }

  /**
   * Returns the index of the entry that starts at offset `at`, or -1 if no entry starts there. Returns `length` if the
   * body ends at `at`.
   */
  startingAt(at: number): number {
    const index = this.#lastUpTo(at);
    return this.starts[index] === at ? index : -1;
  }

  /** Returns the number of entries that end at or before offset `at`. */
  endedBy(at: number): number {
    return this.#lastUpTo(at);
  }

  /**
   * Returns the index of the last entry that starts at or before offset `at`. The end of the body counts as the start
   * of an additional entry.
   */
  #lastUpTo(at: number): number {
    return Math.max(0, lastUpTo(this.starts, at, this.length + 1));
  }
}
