import type { RequestExpectation } from './expectations.js';

/** Number of times that something is expected. Both bounds are inclusive; `max` can be infinite. */
export interface Bounds {
  readonly min: number;
  readonly max: number;
}

/** Formats a range of numbers: `2`, `at least 2`, `at most 2` or `1 to 2`. */
export function rangeText({ min, max }: Bounds): string {
  if (min === max) return `${min}`;
  if (max === Number.POSITIVE_INFINITY) return `at least ${min}`;
  return min === 0 ? `at most ${max}` : `${min} to ${max}`;
}

/** Returns the number of matching requests that an expectation allows. */
export function boundsOf({ count, atLeast, atMost, never, order }: RequestExpectation): Bounds {
  if (never) return { min: 0, max: 0 };
  if (count !== undefined) return { min: count, max: count };
  const isOpen = atMost !== undefined || order !== undefined;
  return { min: atLeast ?? (isOpen ? 0 : 1), max: atMost ?? Number.POSITIVE_INFINITY };
}

/** Returns the bounds for the number of times that a fault should fire. `expected` is its member `expect.fired`. */
export function firingBounds(
  expected: number | { readonly min?: number | undefined; readonly max?: number | undefined },
): Bounds {
  if (typeof expected === 'number') return { min: expected, max: expected };
  const { min = 0, max = Number.POSITIVE_INFINITY } = expected;
  return { min, max };
}

export function isWithin(number: number, { min, max }: Bounds): boolean {
  return number >= min && number <= max;
}
