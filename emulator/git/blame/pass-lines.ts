import type { Change } from '../diff/change.js';
import { type BlameEntry, byStart } from './origin.js';

export interface Passed {
  /** What stays with the file: its lines are new in it. */
  readonly kept: BlameEntry[];
  /** What was in its parent already, counted in the parent's lines. */
  readonly passed: BlameEntry[];
}

/** Divides the entries of a file (in order of `start`) by the changes that led to it from a parent's file. */
export function passLines(entries: readonly BlameEntry[], changes: readonly Change[]): Passed {
  const kept: BlameEntry[] = [];
  const passed: BlameEntry[] = [];
  let first = 0;
  for (const entry of entries) {
    while (first < changes.length && newEnd(changes[first]!) <= entry.start) first++;
    const end = entry.start + entry.count;
    let next = first;
    for (let at = entry.start; at < end; ) {
      const change = changes[next];
      const final = entry.final + (at - entry.start);
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
  // Copies make several entries suspect the same lines, and then the parts of one may lie around another.
  return { kept: kept.sort(byStart), passed: passed.sort(byStart) };
}

/** From a line in front of change `index` to the same line in the parent. */
function offsetBefore(changes: readonly Change[], index: number): number {
  const change = changes[index - 1];
  return change ? change.oldStart + change.oldCount - newEnd(change) : 0;
}

function newEnd(change: Change): number {
  return change.newStart + change.newCount;
}
