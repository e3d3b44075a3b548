import type { Change } from '../diff/change.js';
import { type BlameEntry, byStart } from './origin.js';

export interface Passed {
  /** Entries (groups of lines) that are not in the parent's file, so that this version of the file introduced them. */
  readonly kept: BlameEntry[];
  /**
   * Entries whose lines are already in the parent's file. Their `start` is changed to the line number in the parent's
   * file.
   */
  readonly passed: BlameEntry[];
}

/**
 * Splits the entries (groups of suspected lines, ordered by `start`) of a version of a file into lines that this
 * version added and lines that the parent's file already has. `changes` are the differences between the parent's file
 * and this version.
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
  // The results must be sorted again. After copied lines were found, several entries can contain the same lines, so the
  // parts of one entry may enclose those of another.
  return { kept: kept.sort(byStart), passed: passed.sort(byStart) };
}

/**
 * Returns the difference between the line numbers of an unchanged line: its number in the parent's file minus its number
 * in the newer file. Applies to the lines directly before change `index`.
 */
function offsetBefore(changes: readonly Change[], index: number): number {
  const change = changes[index - 1];
  return change ? change.oldStart + change.oldCount - newEnd(change) : 0;
}

function newEnd(change: Change): number {
  return change.newStart + change.newCount;
}
