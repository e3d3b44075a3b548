import type { CommitGraph, Place } from './commit-graph.js';
import { IntList } from './int-list.js';

const WANTED = 1;
const HELD = 2;

export interface DifferenceRequest {
  readonly wants: readonly Place[];
  readonly haves: readonly Place[];
  /** Commits that are wanted without their parents. */
  readonly wantsEnd?: (place: Place) => boolean;
  /** Commits that are held without their parents. */
  readonly havesEnd?: (place: Place) => boolean;
}

/**
 * The commits reachable from `wants` and not from `haves`, newest place first. Exact whatever the dates say.
 * Costs what lies between the newest tip and the oldest commit of the answer.
 */
export function difference(graph: CommitGraph, request: DifferenceRequest): Int32Array {
  const { wants, haves, wantsEnd, havesEnd } = request;
  const flags = new Uint8Array(graph.size);
  const found = new IntList();
  let open = 0;
  let top = -1;
  const mark = (place: Place, flag: number) => {
    const old = flags[place]!;
    if ((old | flag) === old) return;
    if (old === 0 && flag === WANTED) open++;
    if (old === WANTED) open--;
    flags[place] = old | flag;
    if (place > top) top = place;
  };
  for (const have of haves) mark(have, HELD);
  for (const want of wants) mark(want, WANTED);
  for (let place = top; open > 0; place--) {
    const flag = flags[place]!;
    if (flag === 0) continue;
    if (flag === WANTED) {
      open--;
      found.push(place);
    }
    const ends = flag === WANTED ? wantsEnd : havesEnd;
    if (ends?.(place)) continue;
    const next = flag === WANTED ? WANTED : HELD;
    for (const parent of graph.parentsOf(place)) mark(parent, next);
  }
  return found.view();
}

/** Whether a walk from any of `tips` meets `target`; a commit reaches itself. */
export function reaches(graph: CommitGraph, tips: readonly Place[], target: Place): boolean {
  const marks = new Uint8Array(graph.size);
  let top = -1;
  for (const tip of tips) {
    marks[tip] = 1;
    top = Math.max(top, tip);
  }
  for (let place = top; place > target; place--) {
    if (marks[place] === 0) continue;
    for (const parent of graph.parentsOf(place)) marks[parent] = 1;
  }
  return marks[target] === 1;
}

/** Those of `targets` that no commit of `tips` is or descends from. One sweep for all. */
export function unreached(graph: CommitGraph, tips: readonly Place[], targets: readonly Place[]): Place[] {
  const marks = new Uint8Array(graph.size);
  for (const tip of tips) marks[tip] = 1;
  const lowest = Math.min(...extremes(targets));
  for (let place = Math.max(...extremes(tips)); place > lowest; place--) {
    if (marks[place] === 0) continue;
    for (const parent of graph.parentsOf(place)) marks[parent] = 1;
  }
  return targets.filter((target) => marks[target] === 0);
}

/** Whether each of `tips` is one of `targets` or descends from one. */
export function allReach(graph: CommitGraph, tips: readonly Place[], targets: readonly Place[]): boolean {
  const marks = new Uint8Array(graph.size);
  for (const target of targets) marks[target] = 1;
  const last = Math.max(...extremes(tips));
  for (let place = Math.min(...extremes(targets)); place <= last; place++) {
    if (marks[place] === 0 && graph.parentsOf(place).some((parent) => marks[parent] === 1)) marks[place] = 1;
  }
  return tips.every((tip) => marks[tip] === 1);
}

/** The lowest and the highest place, if any; a list may be too long to be spread. */
function extremes(places: readonly Place[]): Place[] {
  let lowest = places[0];
  let highest = places[0];
  for (const place of places) {
    if (place < lowest!) lowest = place;
    if (place > highest!) highest = place;
  }
  return lowest === undefined ? [] : [lowest, highest!];
}

/** How many commits only `a` has, and how many only `b` has. */
export function aheadBehind(graph: CommitGraph, a: Place, b: Place): { ahead: number; behind: number } {
  return {
    ahead: difference(graph, { wants: [a], haves: [b] }).length,
    behind: difference(graph, { wants: [b], haves: [a] }).length,
  };
}
