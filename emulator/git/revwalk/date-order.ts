import { PIECE, PIECE_COST, type Steps } from '../../schedule/steps.js';
import type { CommitGraph, GraphPosition } from './commit-graph.js';
import { DateQueue } from './date-queue.js';

/** Commits in the order of `git log --date-order`. */
export interface OrderedCommits {
  /** Positions of the commits. Each commit comes after all its children. */
  readonly order: Int32Array;
  /**
   * Tips that are not ancestors of other tips, in the given order of the tips. Two requests with equal `heads` have
   * equal `order`.
   */
  readonly heads: readonly GraphPosition[];
}

/**
 * Returns the commits reachable from the tips in the order of `git log --date-order <tips>`. A parent never comes
 * before one of its children. Otherwise, the commit with the newest committer date comes first.
 *
 * A parent has a lower position than its children. The children of all commits are therefore counted in one pass from
 * the highest position to the lowest, without a queue.
 */
export function* inDateOrder(graph: CommitGraph, tips: readonly GraphPosition[]): Steps<OrderedCommits> {
  let work = 0;
  const top = tips.reduce((highest, tip) => Math.max(highest, tip), -1);
  // State of each commit, by position. 0 means that no tip reaches the commit. Otherwise, the value is 1 plus the
  // number of children that `order` does not contain yet.
  const waiting = new Int32Array(top + 1);
  for (const tip of tips) waiting[tip] = 1;
  let count = 0;
  for (let position = top; position >= 0; position--) {
    if (++work % PIECE === 0) yield PIECE_COST;
    if (waiting[position] === 0) continue;
    count++;
    for (const parent of graph.parentsOf(position)) waiting[parent] = (waiting[parent] || 1) + 1;
  }
  const heads = [...new Set(tips)].filter((tip) => waiting[tip] === 1);
  const queue = new DateQueue(graph);
  for (const head of heads) queue.put(head);
  const order = new Int32Array(count);
  for (let at = 0; at < count; at++) {
    const position = queue.take();
    order[at] = position;
    for (const parent of graph.parentsOf(position)) if (--waiting[parent]! === 1) queue.put(parent);
    if (++work % PIECE === 0) yield PIECE_COST * 4;
  }
  return { order, heads };
}
