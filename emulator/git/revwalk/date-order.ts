import { PIECE, PIECE_COST, type Steps } from '../../schedule/steps.js';
import type { CommitGraph, GraphPosition } from './commit-graph.js';
import { DateQueue } from './date-queue.js';

/** Commits in the order in which a graph of them is drawn. */
export interface OrderedCommits {
  /** Positions; all children come before their parents. */
  readonly order: Int32Array;
  /** Tips that are not ancestors of other tips, in the order of the tips. They alone determine the order. */
  readonly heads: readonly GraphPosition[];
}

/**
 * Returns the commits reachable from the tips in the order of `git log --date-order <tips>`: no parent before one of
 * its children, otherwise newest committer date first.
 *
 * Positions are a topological order, so one pass from the highest position down counts the children, without a queue.
 */
export function* inDateOrder(graph: CommitGraph, tips: readonly GraphPosition[]): Steps<OrderedCommits> {
  let work = 0;
  const top = tips.reduce((highest, tip) => Math.max(highest, tip), -1);
  // 0 if not reachable from a tip; otherwise 1 plus the number of children that are not listed yet.
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
