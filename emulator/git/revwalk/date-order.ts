import { PIECE, PIECE_COST, type Steps } from '../../schedule/steps.js';
import type { CommitGraph, GraphPosition } from './commit-graph.js';
import { DateQueue } from './date-queue.js';

/** Commits as a graph of them is drawn. */
export interface OrderedCommits {
  /** Positions, all children before their parents. */
  readonly order: Int32Array;
  /** The tips that no other one leads to, in the order of the tips: these alone say what the order is. */
  readonly heads: readonly GraphPosition[];
}

/**
 * The commits that the tips lead to as `git log --date-order <tips>` lists them: no parent before one of its children, else
 * the newest by committer date first.
 *
 * Positions are a topological order, so children are counted in one pass from the highest one down, without a queue.
 */
export function* inDateOrder(graph: CommitGraph, tips: readonly GraphPosition[]): Steps<OrderedCommits> {
  let work = 0;
  const top = tips.reduce((highest, tip) => Math.max(highest, tip), -1);
  // 0: not behind a tip; else 1 more than there are children left to be listed.
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
