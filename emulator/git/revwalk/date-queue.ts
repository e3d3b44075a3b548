import type { CommitGraph, GraphPosition } from './commit-graph.js';

/**
 * Priority queue (binary heap) of commits that returns the commit with the newest committer date first. Commits with
 * equal dates are returned in the order in which they were added, as in Git.
 */
export class DateQueue {
  readonly #positions: GraphPosition[] = [];
  readonly #arrivals: number[] = [];
  #puts = 0;

  constructor(private readonly graph: CommitGraph) {}

  get size(): number {
    return this.#positions.length;
  }

  /** Committer date of the commit that `take` would return, in seconds since 1970; undefined if the queue is empty. */
  get date(): number | undefined {
    return this.size === 0 ? undefined : this.graph.committedAt(this.#positions[0]!);
  }

  put(position: GraphPosition): void {
    const arrival = this.#puts++;
    let at = this.#positions.length;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!this.#precedes(position, arrival, above)) break;
      this.#move(above, at);
      at = above;
    }
    this.#positions[at] = position;
    this.#arrivals[at] = arrival;
  }

  /** Removes and returns the commit with the newest committer date. The queue must not be empty. */
  take(): GraphPosition {
    const first = this.#positions[0]!;
    const position = this.#positions.pop()!;
    const arrival = this.#arrivals.pop()!;
    const { length } = this.#positions;
    if (length === 0) return first;
    let at = 0;
    for (let below = 1; below < length; below = at * 2 + 1) {
      const other = below + 1;
      if (other < length && this.#precedes(this.#positions[other]!, this.#arrivals[other]!, below)) below = other;
      if (this.#precedes(position, arrival, below)) break;
      this.#move(below, at);
      at = below;
    }
    this.#positions[at] = position;
    this.#arrivals[at] = arrival;
    return first;
  }

  #precedes(position: GraphPosition, arrival: number, at: number): boolean {
    const difference = this.graph.committedAt(position) - this.graph.committedAt(this.#positions[at]!);
    return difference > 0 || (difference === 0 && arrival < this.#arrivals[at]!);
  }

  #move(from: number, to: number): void {
    this.#positions[to] = this.#positions[from]!;
    this.#arrivals[to] = this.#arrivals[from]!;
  }
}
