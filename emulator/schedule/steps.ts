import type { Meter } from './meter.js';

/**
 * Work that yields after each small piece the units it cost, so that the same code can run at once for a synchronous
 * caller, or in slices between which the event loop serves others. What reading objects costs is counted by itself.
 */
export type Steps<T> = Generator<number, T, void>;

/** How many cheap operations make one piece: enough that counting them costs nothing beside them. */
export const PIECE = 64;
/** What they cost. */
export const PIECE_COST = 4;

/** Runs the work to its end without a pause. */
export function runSync<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Runs the work in slices. Short work ends within the slice that has begun. */
export async function inSlices<T>(steps: Steps<T>, meter: Meter): Promise<T> {
  if (meter.isOver) await meter.pass();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    meter.spend(step.value);
    if (meter.isOver) await meter.pass();
  }
}
