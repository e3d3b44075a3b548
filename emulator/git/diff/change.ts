/**
 * Replacement of `oldCount` lines at `oldStart` by `newCount` lines at `newStart`. Line numbers start at 0. Lists of
 * changes are ordered, and at least one equal line separates two changes.
 */
export interface Change {
  readonly oldStart: number;
  readonly oldCount: number;
  readonly newStart: number;
  readonly newCount: number;
}

/**
 * Converts runs of flagged lines into changes. Flags are 0 or 1, one per line, with an additional 0 at the end of each
 * array.
 */
export function collectChanges(oldFlags: Uint8Array, newFlags: Uint8Array): Change[] {
  const changes: Change[] = [];
  let oldNext = oldFlags.indexOf(1);
  let newNext = newFlags.indexOf(1);
  // Positions up to which both files are processed; the number of unchanged lines before them is equal.
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
