/** Rate limiter of a conformance run. It protects a shared target from too many requests. */
export interface Limiter {
  /** Resolves when the next request may be sent. */
  take(): Promise<void>;
}

/** Allowed requests per second. The number can change during a run. */
export interface Pace {
  readonly perSecond: number;
}

/** Minimum and maximum of an adaptive pace, in requests per second. */
const SLOWEST = 0.5;
const FASTEST = 100;
/** Share of the target's quota that the run uses. The rest is for other clients that may use the same quota. */
const SHARE = 0.8;

/**
 * Request rate that follows the quota in the target's RateLimit headers. Until a response has such a header, the rate
 * keeps its initial value.
 */
export class AdaptivePace implements Pace {
  constructor(public perSecond: number) {}

  /**
   * Adapts the rate to a quota: the number of requests that the target accepts in the next seconds (see `quotaOf`). An
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
 * Creates a limiter that spaces requests evenly. An infinite pace allows any number of requests. `now` returns
 * milliseconds; `sleep` takes milliseconds.
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
