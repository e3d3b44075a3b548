import type { CommitGraph, Place } from './commit-graph.js';

/** Commits by committer date, newest first; of equal dates the one put in first comes first, as in Git's queues. */
export class DateQueue {
  readonly #places: Place[] = [];
  readonly #turns: number[] = [];
  #puts = 0;

  constructor(private readonly graph: CommitGraph) {}

  get size(): number {
    return this.#places.length;
  }

  put(place: Place): void {
    const turn = this.#puts++;
    let at = this.#places.length;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!this.#precedes(place, turn, above)) break;
      this.#move(above, at);
      at = above;
    }
    this.#places[at] = place;
    this.#turns[at] = turn;
  }

  /** Removes and returns the first; the queue may not be empty. */
  take(): Place {
    const first = this.#places[0]!;
    const place = this.#places.pop()!;
    const turn = this.#turns.pop()!;
    const { length } = this.#places;
    if (length === 0) return first;
    let at = 0;
    for (let below = 1; below < length; below = at * 2 + 1) {
      const other = below + 1;
      if (other < length && this.#precedes(this.#places[other]!, this.#turns[other]!, below)) below = other;
      if (this.#precedes(place, turn, below)) break;
      this.#move(below, at);
      at = below;
    }
    this.#places[at] = place;
    this.#turns[at] = turn;
    return first;
  }

  #precedes(place: Place, turn: number, at: number): boolean {
    const difference = this.graph.committedAt(place) - this.graph.committedAt(this.#places[at]!);
    return difference > 0 || (difference === 0 && turn < this.#turns[at]!);
  }

  #move(from: number, to: number): void {
    this.#places[to] = this.#places[from]!;
    this.#turns[to] = this.#turns[from]!;
  }
}
