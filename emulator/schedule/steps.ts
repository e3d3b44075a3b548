import type { Meter } from './meter.js';

/**
 * Generator that yields the cost of each small piece of its work, in work units (about a microsecond each). The same
 * code can therefore run synchronously (`runSync`), or in time slices between which other requests run (`runYielding`).
 * Functions that read objects report their cost themselves.
 */
export type Steps<T> = Generator<number, T, void>;

/**
 * Number of cheap operations between two yields of a loop. The number is large, so that yielding costs little in
 * comparison.
 */
export const PIECE = 64;
/** Cost of `PIECE` cheap operations in work units (about a microsecond each). */
export const PIECE_COST = 4;

/** Runs a generator to its end without interruption and returns its result. */
export function runSync<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/**
 * Runs a generator in time slices, between which other requests run, and resolves to its result. Work that fits into
 * the current slice is not interrupted.
 */
export async function runYielding<T>(steps: Steps<T>, meter: Meter): Promise<T> {
  if (meter.shouldYield) await meter.yieldToEventLoop();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    meter.spend(step.value);
    if (meter.shouldYield) await meter.yieldToEventLoop();
  }
}
