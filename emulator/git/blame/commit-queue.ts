import type { GraphPosition } from '../revwalk/commit-graph.js';

interface Waiting {
  readonly commit: GraphPosition;
  readonly date: number;
  /** Of commits with one date, the first that came is the first that goes. */
  readonly turn: number;
}

/** Commits, the youngest first: a binary heap. */
export class CommitQueue {
  readonly #heap: Waiting[] = [];
  #turns = 0;

  /** Of the youngest. */
  get date(): number | undefined {
    return this.#heap[0]?.date;
  }

  push(commit: GraphPosition, date: number): void {
    const heap = this.#heap;
    const waiting = { commit, date, turn: this.#turns++ };
    let at = heap.length;
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      if (!isBefore(waiting, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = waiting;
  }

  pop(): GraphPosition | undefined {
    const heap = this.#heap;
    const top = heap[0];
    const last = heap.pop();
    if (!top || !last || heap.length === 0) return top?.commit;
    let at = 0;
    for (let child = 1; child < heap.length; child = 2 * at + 1) {
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!isBefore(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return top.commit;
  }
}

function isBefore(a: Waiting, b: Waiting): boolean {
  return a.date > b.date || (a.date === b.date && a.turn < b.turn);
}
