import { type Problem, problem } from '../http/problem.js';
import type { RetryAfterForm } from './quotas.js';

export interface Throttling {
  /** What `RateLimit` calls the quota. */
  readonly name?: string;
  /** Requests that could be made right now. */
  readonly remaining: number;
  /** Seconds of the effective window. */
  readonly window: number;
  /** Seconds to wait at least; undefined where the answer does not say. */
  readonly retryAfter: number | undefined;
  /** Where `Retry-After` is an HTTP date: milliseconds on the world's clock. */
  readonly until?: number;
}

/**
 * The answer to a request beyond the quota. Specification, Limits: `RateLimit` carries `r`, the quota
 * available now, and `t`, the window in seconds; `Retry-After` is the minimum delay and takes precedence.
 */
export function throttled({ name = 'default', remaining, window, retryAfter, until }: Throttling): Problem {
  const wait = until === undefined ? retryAfter?.toString() : new Date(until).toUTCString();
  const detail = retryAfter === undefined ? 'Too many requests.' : `Too many requests; retry after ${retryAfter} s.`;
  return problem('rate_limited', detail, {
    headers: { ratelimit: `"${name}";r=${remaining};t=${window}`, ...(wait !== undefined && { 'retry-after': wait }) },
  });
}

/** Seconds that `Retry-After` names, and the time where it is a date. Both are rounded up: who waits so long is served. */
export function retryAfterOf(
  { add, format }: RetryAfterForm,
  wait: number,
  now: number,
): Pick<Throttling, 'retryAfter' | 'until'> {
  if (format === 'omit') return { retryAfter: undefined };
  const retryAfter = Math.ceil(wait / 1000) + add;
  // A date has no room for milliseconds.
  if (format === 'http-date') return { retryAfter, until: Math.ceil((now + wait) / 1000) * 1000 + add * 1000 };
  return { retryAfter };
}
