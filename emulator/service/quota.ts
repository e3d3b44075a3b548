import { type Problem, problem } from '../http/problem.js';

export interface Exhausted {
  /** Requests that could be made right now. */
  readonly remaining: number;
  /** Seconds of the effective window. */
  readonly window: number;
  /** Seconds to wait at least. */
  readonly retryAfter: number;
}

/**
 * The answer to a request beyond the quota. Specification, Limits: `RateLimit` carries `r`, the quota
 * available now, and `t`, the window in seconds; `Retry-After` is the minimum delay and takes precedence.
 */
export function throttled({ remaining, window, retryAfter }: Exhausted): Problem {
  return problem('rate_limited', `Too many requests; retry after ${retryAfter} s.`, {
    headers: { ratelimit: `"default";r=${remaining};t=${window}`, 'retry-after': String(retryAfter) },
  });
}
