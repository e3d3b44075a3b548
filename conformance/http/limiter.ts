/** Rate limiter of a conformance run, which protects a shared target from too many requests. */
export interface Limiter {
  /** Resolves when the next request may be sent. */
  take(): Promise<void>;
}

export const UNLIMITED: Limiter = { take: () => Promise.resolve() };

/**
 * Creates a limiter that allows `perSecond` evenly spaced requests per second, or any number if it is infinite. `now`
 * returns milliseconds, and `sleep` takes milliseconds.
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
