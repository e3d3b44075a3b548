import { IntList } from '../../memory/int-list.js';
import { PIECE, PIECE_COST, runSync, type Steps } from '../../schedule/steps.js';
import type { CommitGraph, GraphPosition } from './commit-graph.js';

const WANTED = 1;
const HELD = 2;

export interface DifferenceRequest {
  readonly wants: readonly GraphPosition[];
  readonly haves: readonly GraphPosition[];
  /**
   * Returns true for a commit that is sent without its parents. The walk from the wants does not continue to the
   * parents of such a commit.
   */
  readonly wantsEnd?: (position: GraphPosition) => boolean;
  /**
   * Returns true for a commit whose parents the client does not have. The walk from the haves does not continue to the
   * parents of such a commit.
   */
  readonly havesEnd?: (position: GraphPosition) => boolean;
}

/**
 * Returns the positions of the commits that are reachable from `wants` but not from `haves`, highest position first.
 * Wrong commit dates do not affect the result. The cost is proportional to the number of positions between the newest
 * tip and the oldest commit of the result. Yields between pieces of work, so that other requests can run.
 */
export function* difference(graph: CommitGraph, request: DifferenceRequest): Steps<Int32Array> {
  const { wants, haves, wantsEnd, havesEnd } = request;
  const flags = new Uint8Array(graph.size);
  const found = new IntList();
  let open = 0;
  let top = -1;
  const mark = (position: GraphPosition, flag: number) => {
    const old = flags[position]!;
    if ((old | flag) === old) return;
    if (old === 0 && flag === WANTED) open++;
    if (old === WANTED) open--;
    flags[position] = old | flag;
    if (position > top) top = position;
  };
  for (const have of haves) mark(have, HELD);
  for (const want of wants) mark(want, WANTED);
  for (let position = top; open > 0; position--) {
    if (position % PIECE === 0) yield PIECE_COST;
    const flag = flags[position]!;
    if (flag === 0) continue;
    if (flag === WANTED) {
      open--;
      found.push(position);
    }
    const ends = flag === WANTED ? wantsEnd : havesEnd;
    if (ends?.(position)) continue;
    const next = flag === WANTED ? WANTED : HELD;
    for (let index = 0, parent = graph.parentOf(position, 0); parent >= 0; parent = graph.parentOf(position, ++index)) {
      mark(parent, next);
    }
  }
  return found.view();
}

/**
 * Returns the positions in `targets` that are not reachable from any of `tips`. One pass over the graph handles all
 * targets.
 */
export function unreached(
  graph: CommitGraph,
  tips: readonly GraphPosition[],
  targets: readonly GraphPosition[],
): GraphPosition[] {
  const marks = new Uint8Array(graph.size);
  for (const tip of tips) marks[tip] = 1;
  const lowest = Math.min(...extremes(targets));
  for (let position = Math.max(...extremes(tips)); position > lowest; position--) {
    if (marks[position] === 0) continue;
    for (const parent of graph.parentsOf(position)) marks[parent] = 1;
  }
  return targets.filter((target) => marks[target] === 0);
}

/** Returns true if each commit of `tips` is one of `targets` or descends from one of them. */
export function allReach(
  graph: CommitGraph,
  tips: readonly GraphPosition[],
  targets: readonly GraphPosition[],
): boolean {
  const marks = new Uint8Array(graph.size);
  for (const target of targets) marks[target] = 1;
  const last = Math.max(...extremes(tips));
  for (let position = Math.min(...extremes(targets)); position <= last; position++) {
    if (marks[position] === 0 && graph.parentsOf(position).some((parent) => marks[parent] === 1)) marks[position] = 1;
  }
  return tips.every((tip) => marks[tip] === 1);
}

/**
 * Returns the lowest and the highest position; an empty array if `positions` is empty. `Math.min` with spread arguments
 * would fail for long arrays, because the number of arguments is limited.
 */
function extremes(positions: readonly GraphPosition[]): GraphPosition[] {
  let lowest = positions[0];
  let highest = positions[0];
  for (const position of positions) {
    if (position < lowest!) lowest = position;
    if (position > highest!) highest = position;
  }
  return lowest === undefined ? [] : [lowest, highest!];
}

/**
 * Returns two numbers of commits. `ahead` counts the commits that are reachable only from `a`, `behind` those reachable
 * only from `b`.
 */
export function aheadBehind(graph: CommitGraph, a: GraphPosition, b: GraphPosition): { ahead: number; behind: number } {
  return {
    ahead: runSync(difference(graph, { wants: [a], haves: [b] })).length,
    behind: runSync(difference(graph, { wants: [b], haves: [a] })).length,
  };
}
