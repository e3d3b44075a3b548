import { type Problem, problem } from '../http/problem.js';
import type { RetryAfterForm } from './quotas.js';

export interface Throttling {
  /** Name of the exceeded quota in the header `RateLimit`; `default` if absent. */
  readonly name?: string;
  /** Number of tokens left in the bucket, for the header `RateLimit`. */
  readonly remaining: number;
  /** Effective window of the quota: the number of seconds in which an empty bucket fills. */
  readonly window: number;
  /**
   * Minimum number of seconds that the client must wait; undefined if the response must have no `Retry-After` header.
   */
  readonly retryAfter: number | undefined;
  /**
   * Value of the `Retry-After` header as an HTTP date, in milliseconds since 1970 on the clock of the emulated service;
   * undefined if the header is a number of seconds.
   */
  readonly until?: number;
}

/**
 * Returns the error response to a request that exceeds a quota. In `RateLimit`, `r` is the quota available now and `t`
 * the window in seconds. `Retry-After` is the minimum delay and takes precedence over `t` (conformance rule
 * `rate.429.retry-after.precedence`).
 */
export function throttled({ name = 'default', remaining, window, retryAfter, until }: Throttling): Problem {
  const wait = until === undefined ? retryAfter?.toString() : new Date(until).toUTCString();
  const detail =
    retryAfter === undefined ? 'Too many requests. Retry later.' : `Too many requests. Retry after ${retryAfter} s.`;
  return problem('rate_limited', detail, {
    headers: { ratelimit: `"${name}";r=${remaining};t=${window}`, ...(wait !== undefined && { 'retry-after': wait }) },
  });
}

/**
 * Returns the values for the `Retry-After` header: the number of seconds, and the time if the format is an HTTP date.
 * Both are rounded up, so that a client that waits so long passes. `wait` is the number of milliseconds until a request
 * would pass.
 */
export function retryAfterOf(
  { add, format }: RetryAfterForm,
  wait: number,
  now: number,
): Pick<Throttling, 'retryAfter' | 'until'> {
  if (format === 'omit') return { retryAfter: undefined };
  const retryAfter = Math.ceil(wait / 1000) + add;
  // The time is rounded up to a whole second, because an HTTP date has no milliseconds.
  if (format === 'http-date') return { retryAfter, until: Math.ceil((now + wait) / 1000) * 1000 + add * 1000 };
  return { retryAfter };
}
