import type { Change } from '../diff/change.js';
import { type BlameEntry, byStart } from './origin.js';

export interface Passed {
  /** Entries whose lines are new in the file. */
  readonly kept: BlameEntry[];
  /** Entries whose lines the parent's file already contains, with `start` as a line of the parent's file. */
  readonly passed: BlameEntry[];
}

/** Splits the entries of a file (ordered by `start`) at the changes between the parent's file and this file. */
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
  // After copies, several entries can suspect the same lines. The parts of one entry may then lie around another entry.
  return { kept: kept.sort(byStart), passed: passed.sort(byStart) };
}

/** Returns the offset from a line before change `index` to the same line in the parent. */
function offsetBefore(changes: readonly Change[], index: number): number {
  const change = changes[index - 1];
  return change ? change.oldStart + change.oldCount - newEnd(change) : 0;
}

function newEnd(change: Change): number {
  return change.newStart + change.newCount;
}
