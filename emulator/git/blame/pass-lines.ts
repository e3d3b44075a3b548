import type { Change } from '../diff/change.js';
import { compareStretches, type Stretch } from './origin.js';

export interface Passed {
  /** What stays with the file: its lines are new in it. */
  readonly kept: Stretch[];
  /** What was in its parent already, counted in the parent's lines. */
  readonly passed: Stretch[];
}

/** Divides the stretches of a file (in order of `start`) by the changes that led to it from a parent's file. */
export function passLines(stretches: readonly Stretch[], changes: readonly Change[]): Passed {
  const kept: Stretch[] = [];
  const passed: Stretch[] = [];
  let first = 0;
  for (const stretch of stretches) {
    while (first < changes.length && newEnd(changes[first]!) <= stretch.start) first++;
    const end = stretch.start + stretch.count;
    let next = first;
    for (let at = stretch.start; at < end; ) {
      const change = changes[next];
      const final = stretch.final + (at - stretch.start);
      if (change && change.newStart <= at) {
        const until = Math.min(end, newEnd(change));
        if (until > at) kept.push({ final, start: at, count: until - at });
        at = Math.max(at, until);
        next++;
      } else {
        const until = change ? Math.min(end, change.newStart) : end;
        passed.push({ final, start: at + offsetBefore(changes, next), count: until - at });
        at = until;
      }
    }
  }
  // Copies make several stretches suspect the same lines, and then the parts of one may lie around another.
  return { kept: kept.sort(compareStretches), passed: passed.sort(compareStretches) };
}

/** From a line in front of change `index` to the same line in the parent. */
function offsetBefore(changes: readonly Change[], index: number): number {
  const change = changes[index - 1];
  return change ? change.oldStart + change.oldCount - newEnd(change) : 0;
}

function newEnd(change: Change): number {
  return change.newStart + change.newCount;
}
