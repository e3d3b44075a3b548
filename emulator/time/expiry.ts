/** End of something that was set for a while: after a number of requests, at a time, or by a signal. */
export interface Expiry {
  /** Number of requests that it still refuses. */
  readonly requests?: number | undefined;
  /** Milliseconds since 1970, on the world's clock. */
  readonly at?: number | undefined;
  /** Milliseconds on the world's clock from its begin to its end. `begun` replaces it by `at`. */
  readonly after?: number | undefined;
  /** The name of a latch, whose release ends it. */
  readonly signal?: string | undefined;
}

export function isExpired({ requests, at }: Expiry, now: number): boolean {
  return requests === 0 || (at !== undefined && at <= now);
}

/** The end of something that begins now. */
export function startExpiry({ after, ...rest }: Expiry, now: number): Expiry {
  return after === undefined ? rest : { ...rest, at: now + after };
}

/** The end after one more refused request. */
export function countRequest(ends: Expiry): Expiry {
  return ends.requests === undefined ? ends : { ...ends, requests: ends.requests - 1 };
}

/** Seconds until it is over, at least 1; undefined where the time does not end it. */
export function secondsLeft({ at }: Expiry, now: number): number | undefined {
  return at === undefined ? undefined : Math.max(1, Math.ceil((at - now) / 1000));
}
