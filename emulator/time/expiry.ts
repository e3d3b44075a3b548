/** End of a temporary setting: after a number of requests, at a time, or by a signal. */
export interface Expiry {
  /** Number of requests that it still refuses. */
  readonly requests?: number | undefined;
  /** Milliseconds since 1970, on the world's clock. */
  readonly at?: number | undefined;
  /** Duration in milliseconds on the world's clock. `startExpiry` replaces it by `at`. */
  readonly after?: number | undefined;
  /** Name of a latch. Releasing it ends the setting. */
  readonly signal?: string | undefined;
}

export function isExpired({ requests, at }: Expiry, now: number): boolean {
  return requests === 0 || (at !== undefined && at <= now);
}

/** Returns the expiry of a setting that begins now. */
export function startExpiry({ after, ...rest }: Expiry, now: number): Expiry {
  return after === undefined ? rest : { ...rest, at: now + after };
}

/** Returns the expiry after one more refused request. */
export function countRequest(ends: Expiry): Expiry {
  return ends.requests === undefined ? ends : { ...ends, requests: ends.requests - 1 };
}

/** Returns the seconds until the expiry, at least 1; undefined if it does not expire by time. */
export function secondsLeft({ at }: Expiry, now: number): number | undefined {
  return at === undefined ? undefined : Math.max(1, Math.ceil((at - now) / 1000));
}
