/** Rate limiter that protects a shared target. */
export interface Limiter {
  /** Resolves when the next request may be sent. */
  take(): Promise<void>;
}

export const UNLIMITED: Limiter = { take: () => Promise.resolve() };

/**
 * Creates a limiter of `perSecond` evenly spaced requests per second; infinite: no limit. `now` and `sleep` use
 * milliseconds.
 */
export function createLimiter(
  perSecond: number,
  now: () => number,
  sleep: (milliseconds: number) => Promise<void>,
): Limiter {
  if (!Number.isFinite(perSecond)) return UNLIMITED;
  const gap = 1000 / perSecond;
  let next = 0;
  return {
    take: async () => {
      const at = Math.max(now(), next);
      next = at + gap;
      if (at > now()) await sleep(at - now());
    },
  };
}
