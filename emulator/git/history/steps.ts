import { Turn, type TurnOptions } from '../turn.js';

/**
 * Work that yields after each small unit (well under a millisecond), so that the same code can run at
 * once for a synchronous caller, or in turns between which the event loop serves others.
 */
export type Steps<T> = Generator<void, T, void>;

/** How many cheap operations make one unit: enough that looking at the clock costs nothing beside them. */
export const UNIT = 64;

/** Runs the work to its end without a pause. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Runs the work in turns, or as part of a turn that has begun. Short work ends within its first turn. */
export async function inTurns<T>(steps: Steps<T>, options: Turn | TurnOptions = {}): Promise<T> {
  const turn = options instanceof Turn ? options : new Turn(options);
  turn.check();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (turn.isOver) await turn.pass();
  }
}
