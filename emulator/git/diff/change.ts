/**
 * Difference between two versions of a file. The new version has `newCount` lines, starting at line `newStart`, instead
 * of `oldCount` lines, starting at line `oldStart`. Line numbers start at 0. Lists of changes are ordered, and at least
 * one unchanged line separates two changes.
 */
export interface Change {
  readonly oldStart: number;
  readonly oldCount: number;
  readonly newStart: number;
  readonly newCount: number;
}

/**
 * Converts flags of changed lines into a list of changes. The arrays contain one flag per line of the old and the new
 * file, which is 1 if the line is changed. An additional 0 follows the last flag.
 */
export function collectChanges(oldFlags: Uint8Array, newFlags: Uint8Array): Change[] {
  const changes: Change[] = [];
  let oldNext = oldFlags.indexOf(1);
  let newNext = newFlags.indexOf(1);
  // Line numbers up to which both files are processed. Both files have equal numbers of unchanged lines before them.
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
