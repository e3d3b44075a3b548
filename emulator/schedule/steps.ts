import type { Meter } from './meter.js';

/**
 * Generator that yields, after each small piece of work, its cost in work units. The same code can therefore run
 * synchronously, or in time slices between which the event loop serves others. Reading objects reports its cost itself.
 */
export type Steps<T> = Generator<number, T, void>;

/** Number of cheap operations in one piece, large enough that counting costs little in comparison. */
export const PIECE = 64;
/** Cost of one such piece in work units. */
export const PIECE_COST = 4;

/** Runs the work synchronously. */
export function runSync<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Runs the work in time slices. Short work ends within the current slice. */
export async function runYielding<T>(steps: Steps<T>, meter: Meter): Promise<T> {
  if (meter.shouldYield) await meter.yieldToEventLoop();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    meter.spend(step.value);
    if (meter.shouldYield) await meter.yieldToEventLoop();
  }
}
