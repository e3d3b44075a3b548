/**
 * `oldCount` lines at `oldStart` became `newCount` lines at `newStart`; lines count from 0. Lists of
 * changes are in order, and at least one equal line lies between two of them.
 */
export interface Change {
  readonly oldStart: number;
  readonly oldCount: number;
  readonly newStart: number;
  readonly newCount: number;
}

/** The runs of flagged lines as changes; a flag is 0 or 1. Behind the flags of each file is one zero more. */
export function collectChanges(oldFlags: Uint8Array, newFlags: Uint8Array): Change[] {
  const changes: Change[] = [];
  let oldNext = oldFlags.indexOf(1);
  let newNext = newFlags.indexOf(1);
  // As many unchanged lines are in front of both.
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
