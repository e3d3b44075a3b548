import type { Change } from '../diff/change.js';
import { type BlameEntry, byStart } from './origin.js';

export interface Passed {
  /** Entries (groups of lines) that the parent's file does not contain. This version of the file introduced them. */
  readonly kept: BlameEntry[];
  /** Entries whose lines the parent's file already contains. Their `start` is a line number in the parent's file. */
  readonly passed: BlameEntry[];
}

/**
 * Divides the lines of a file version into those that this version added and those that the parent's file already has.
 * `entries` are the groups of suspected lines, ordered by `start`. `changes` are the differences between the parent's
 * file and this version.
 */
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
  // The results must be sorted again. Once copied lines were found, several entries can contain the same lines. Parts
  // of one entry may then enclose parts of another.
  return { kept: kept.sort(byStart), passed: passed.sort(byStart) };
}

/**
 * Returns the offset of the unchanged lines directly before change `index`: the number of such a line in the parent's
 * file minus its number in the newer file.
 */
function offsetBefore(changes: readonly Change[], index: number): number {
  const change = changes[index - 1];
  return change ? change.oldStart + change.oldCount - newEnd(change) : 0;
}

function newEnd(change: Change): number {
  return change.newStart + change.newCount;
}
