/** Holds requests back so that a shared target is not flooded. */
export interface Limiter {
  /** Resolves when one more request may go out. */
  take(): Promise<void>;
}

export const UNLIMITED: Limiter = { take: () => Promise.resolve() };

/** At most `perSecond` requests a second, evenly spaced; infinite: no limit. `now` and `sleep` count milliseconds. */
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
