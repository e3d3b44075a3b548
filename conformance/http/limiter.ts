/** Rate limiter of a conformance run, which protects a shared target from too many requests. */
export interface Limiter {
  /** Resolves when the next request may be sent. */
  take(): Promise<void>;
}

/** Number of requests per second, which can change during a run. */
export interface Pace {
  readonly perSecond: number;
}

/** Limits of an adaptive pace in requests per second. */
const SLOWEST = 0.5;
const FASTEST = 100;
/** Share of the quota of the target that the run uses, because other clients may use the same quota. */
const SHARE = 0.8;

/**
 * Rate of requests that follows the quota in the RateLimit headers of the target. The rate keeps its first value until
 * a response has such a header.
 */
export class AdaptivePace implements Pace {
  constructor(public perSecond: number) {}

  /**
   * Adapts the rate to a quota (number of requests that the target accepts in the next seconds, see `quotaOf`). An
   * exhausted quota changes nothing, because the target then refuses requests with 429 and the run pauses.
   */
  see(quota: { readonly remaining: number; readonly seconds: number } | undefined): void {
    if (quota === undefined || quota.remaining <= 0) return;
    const allowed = (SHARE * quota.remaining) / Math.max(quota.seconds, 1);
    this.perSecond = Math.min(FASTEST, Math.max(SLOWEST, allowed));
  }
}

export const UNLIMITED: Limiter = { take: () => Promise.resolve() };

/**
 * Creates a limiter that allows evenly spaced requests, or any number of them if the pace is infinite. `now` returns
 * milliseconds, and `sleep` takes milliseconds.
 */
export function createLimiter(
  pace: number | Pace,
  now: () => number,
  sleep: (milliseconds: number) => Promise<void>,
): Limiter {
  if (pace === Number.POSITIVE_INFINITY) return UNLIMITED;
  let next = 0;
  return {
    take: async () => {
      const at = Math.max(now(), next);
      next = at + 1000 / (typeof pace === 'number' ? pace : pace.perSecond);
      if (at > now()) await sleep(at - now());
    },
  };
}
