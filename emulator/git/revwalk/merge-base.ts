import type { CommitGraph, Place } from './commit-graph.js';
import { DateQueue } from './date-queue.js';

const LEFT = 1;
const RIGHT = 2;
const BOTH = LEFT | RIGHT;
/** Reachable from a common ancestor that was found, so not a best one. */
const STALE = 4;

/**
 * The best common ancestors of two commits: those that no other common ancestor descends from.
 * In the order `git merge-base --all` prints them.
 */
export function mergeBases(graph: CommitGraph, a: Place, b: Place): Place[] {
  const flags = new Uint8Array(graph.size);
  const bases: Place[] = [];
  let open = 0;
  const mark = (place: Place, flag: number) => {
    const old = flags[place]!;
    if (old === 0) open++;
    flags[place] = old | flag;
    if (flag & STALE && !(old & STALE)) open--;
  };
  mark(a, LEFT);
  mark(b, RIGHT);
  for (let place = Math.max(a, b); open > 0; place--) {
    let flag = flags[place]!;
    if (flag === 0) continue;
    if (!(flag & STALE)) {
      open--;
      if (flag === BOTH) {
        bases.push(place);
        flag |= STALE;
      }
    }
    for (const parent of graph.parentsOf(place)) mark(parent, flag);
  }
  return bases.length > 1 ? inGitsOrder(graph, a, b, bases) : bases;
}

/**
 * Git finds the bases by painting from both sides in order of date, and sorts what it found by date again.
 * Where dates are equal the order of the painting stays, so it has to be repeated.
 */
function inGitsOrder(graph: CommitGraph, a: Place, b: Place, bases: Place[]): Place[] {
  const flags = new Map<Place, number>();
  const queue = new DateQueue(graph);
  const mark = (place: Place, flag: number) => {
    const old = flags.get(place) ?? 0;
    if ((old | flag) === old) return;
    flags.set(place, old | flag);
    queue.put(place);
  };
  mark(a, LEFT);
  mark(b, RIGHT);
  const left = new Set(bases);
  const ordered: Place[] = [];
  while (left.size > 0) {
    const place = queue.take();
    let flag = flags.get(place)!;
    if (flag === BOTH && left.delete(place)) ordered.push(place);
    if ((flag & BOTH) === BOTH) flag |= STALE;
    for (const parent of graph.parentsOf(place)) mark(parent, flag);
  }
  return ordered.sort((first, second) => graph.committedAt(second) - graph.committedAt(first));
}
