import { type Problem, problem } from '../http/problem.js';
import type { RetryAfterForm } from './quotas.js';

export interface Throttling {
  /** Name of the quota in `RateLimit`. */
  readonly name?: string;
  /** Number of requests that would pass now. */
  readonly remaining: number;
  /** Seconds of the effective window. */
  readonly window: number;
  /** Minimum seconds to wait; undefined if the response omits `Retry-After`. */
  readonly retryAfter: number | undefined;
  /** Time for a `Retry-After` with an HTTP date, in milliseconds on the world's clock; undefined for seconds. */
  readonly until?: number;
}

/**
 * Returns the response to a request that exceeds a quota. `RateLimit` contains `r`, the quota available now, and `t`,
 * the window in seconds. `Retry-After` is the minimum delay and takes precedence (rule
 * `rate.429.retry-after.precedence`).
 */
export function throttled({ name = 'default', remaining, window, retryAfter, until }: Throttling): Problem {
  const wait = until === undefined ? retryAfter?.toString() : new Date(until).toUTCString();
  const detail = retryAfter === undefined ? 'Too many requests.' : `Too many requests; retry after ${retryAfter} s.`;
  return problem('rate_limited', detail, {
    headers: { ratelimit: `"${name}";r=${remaining};t=${window}`, ...(wait !== undefined && { 'retry-after': wait }) },
  });
}

/**
 * Returns the seconds for `Retry-After`, and the time for an HTTP date. Both are rounded up, so that a client that
 * waits that long passes.
 */
export function retryAfterOf(
  { add, format }: RetryAfterForm,
  wait: number,
  now: number,
): Pick<Throttling, 'retryAfter' | 'until'> {
  if (format === 'omit') return { retryAfter: undefined };
  const retryAfter = Math.ceil(wait / 1000) + add;
  // An HTTP date has no milliseconds.
  if (format === 'http-date') return { retryAfter, until: Math.ceil((now + wait) / 1000) * 1000 + add * 1000 };
  return { retryAfter };
}
