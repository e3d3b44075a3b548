/**
 * Difference between two versions of a file: `oldCount` lines from line `oldStart` on became `newCount` lines from line
 * `newStart` on. Line numbers start at 0. Lists of changes are ordered, with at least one unchanged line between two
 * changes.
 */
export interface Change {
  readonly oldStart: number;
  readonly oldCount: number;
  readonly newStart: number;
  readonly newCount: number;
}

/**
 * Converts flags of changed lines into a list of changes. Each array has one flag per line of the old or new file, 1 if
 * the line is changed. One more 0 follows the last flag.
 */
export function collectChanges(oldFlags: Uint8Array, newFlags: Uint8Array): Change[] {
  const changes: Change[] = [];
  let oldNext = oldFlags.indexOf(1);
  let newNext = newFlags.indexOf(1);
  // Line numbers up to which the two files are processed. The numbers of unchanged lines before them are equal.
  let [oldAt, newAt] = [0, 0];
  while (oldNext >= 0 || newNext >= 0) {
    const oldAhead = oldNext < 0 ? Number.POSITIVE_INFINITY : oldNext - oldAt;
    const newAhead = newNext < 0 ? Number.POSITIVE_INFINITY : newNext - newAt;
    const unchanged = Math.min(oldAhead, newAhead);
    const [oldStart, newStart] = [oldAt + unchanged, newAt + unchanged];
    oldAt = oldStart;
    newAt = newStart;
    if (oldStart === oldNext) {
      oldAt = oldFlags.indexOf(0, oldStart);
      oldNext = oldFlags.indexOf(1, oldAt);
    }
    if (newStart === newNext) {
      newAt = newFlags.indexOf(0, newStart);
      newNext = newFlags.indexOf(1, newAt);
    }
    changes.push({ oldStart, oldCount: oldAt - oldStart, newStart, newCount: newAt - newStart });
  }
  return changes;
}
