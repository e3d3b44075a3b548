import type { CommitGraph, GraphPosition } from './commit-graph.js';
import { DateQueue } from './date-queue.js';

const LEFT = 1;
const RIGHT = 2;
const BOTH = LEFT | RIGHT;
/** Flag of a commit that is an ancestor of a common ancestor. It is therefore a common ancestor, but not a best one. */
const STALE = 4;

/**
 * Returns the best common ancestors of two commits, in the order of `git merge-base --all`. A common ancestor is best
 * if it is not an ancestor of another common ancestor.
 */
export function mergeBases(graph: CommitGraph, a: GraphPosition, b: GraphPosition): GraphPosition[] {
  const flags = new Uint8Array(graph.size);
  const bases: GraphPosition[] = [];
  let open = 0;
  const mark = (position: GraphPosition, flag: number) => {
    const old = flags[position]!;
    if (old === 0) open++;
    flags[position] = old | flag;
    if (flag & STALE && !(old & STALE)) open--;
  };
  mark(a, LEFT);
  mark(b, RIGHT);
  for (let position = Math.max(a, b); open > 0; position--) {
    let flag = flags[position]!;
    if (flag === 0) continue;
    if (!(flag & STALE)) {
      open--;
      if (flag === BOTH) {
        bases.push(position);
        flag |= STALE;
      }
    }
    for (const parent of graph.parentsOf(position)) mark(parent, flag);
  }
  return bases.length > 1 ? inGitsOrder(graph, a, b, bases) : bases;
}

/**
 * Sorts merge bases in the order in which Git prints them: newest first. Bases with equal dates stay in the order in
 * which Git's walk found them.
 *
 * This function repeats Git's walk to find this order (`paint_down_to_common` in commit-reach.c). The walk starts at
 * both commits, proceeds in order of date, and marks each commit with the sides from which it was reached.
 */
function inGitsOrder(graph: CommitGraph, a: GraphPosition, b: GraphPosition, bases: GraphPosition[]): GraphPosition[] {
  const flags = new Map<GraphPosition, number>();
  const queue = new DateQueue(graph);
  const mark = (position: GraphPosition, flag: number) => {
    const old = flags.get(position) ?? 0;
    if ((old | flag) === old) return;
    flags.set(position, old | flag);
    queue.put(position);
  };
  mark(a, LEFT);
  mark(b, RIGHT);
  const left = new Set(bases);
  const ordered: GraphPosition[] = [];
  while (left.size > 0) {
    const position = queue.take();
    let flag = flags.get(position) ?? 0;
    if (flag === BOTH && left.delete(position)) ordered.push(position);
    if ((flag & BOTH) === BOTH) flag |= STALE;
    for (const parent of graph.parentsOf(position)) mark(parent, flag);
  }
  return ordered.sort((first, second) => graph.committedAt(second) - graph.committedAt(first));
}
