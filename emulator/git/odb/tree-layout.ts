import { withRoom } from '../../memory/growable.js';
import { lastUpTo } from '../../memory/sorted.js';

/** The entries of a tree whose deltas are being resolved, and where each lies in its body. */
export class TreeLayout {
  length = 0;
  /** Whether the check of the tree had nothing to say. */
  isFlawless = false;
  /** Where each entry starts in the body; and behind the last, where the body ends. */
  starts = new Int32Array(64);
  /** Of each entry its key, and what it points at, as `LinkRecorder` notes it. */
  cells = new Int32Array(128);

  /** Room for so many entries; what is there is kept. */
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

  /** Adds entries `from` to before `to` of `base`, the first of which starts at `start`. */
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

  /** The entry that starts at `at`, or -1; `length` where the body ends there. */
  startingAt(at: number): number {
    const index = this.#lastUpTo(at);
    return this.starts[index] === at ? index : -1;
  }

  /** How many entries end at or before `at`. */
  endedBy(at: number): number {
    return this.#lastUpTo(at);
  }

  /** The last index, `length` included, whose start is not behind `at`. */
  #lastUpTo(at: number): number {
    return Math.max(0, lastUpTo(this.starts, at, this.length + 1));
  }
}
