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

/** The runs of flagged lines as changes. Behind the flags of each file is one zero more. */
export function collectChanges(oldFlags: Uint8Array, newFlags: Uint8Array): Change[] {
  const changes: Change[] = [];
  const oldEnd = oldFlags.length - 1;
  const newEnd = newFlags.length - 1;
  let oldAt = 0;
  let newAt = 0;
  while (oldAt < oldEnd || newAt < newEnd) {
    const oldStart = oldAt;
    const newStart = newAt;
    while (oldFlags[oldAt] !== 0) oldAt++;
    while (newFlags[newAt] !== 0) newAt++;
    if (oldAt > oldStart || newAt > newStart) {
      changes.push({ oldStart, oldCount: oldAt - oldStart, newStart, newCount: newAt - newStart });
    }
    oldAt++;
    newAt++;
  }
  return changes;
}
