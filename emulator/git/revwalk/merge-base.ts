import type { CommitGraph, GraphPosition } from './commit-graph.js';
import { DateQueue } from './date-queue.js';

const LEFT = 1;
const RIGHT = 2;
const BOTH = LEFT | RIGHT;
/** Flag of commits that are ancestors of a common ancestor. They are common ancestors too, but not the best ones. */
const STALE = 4;

/**
 * Returns the best common ancestors of two commits: the common ancestors that are not ancestors of another common
 * ancestor. The order is that of `git merge-base --all`.
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
 * Sorts merge bases as Git does. Git walks from both commits in order of date, marks which commits are reached from
 * each of them (`paint_down_to_common` in commit-reach.c), and sorts the bases by date. Bases with equal dates stay in
 * the order in which the walk found them, so this function does the same walk.
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
