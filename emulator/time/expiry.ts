/**
 * Condition that ends a temporary setting, such as a simulated state: after a number of refused requests, at a time, or
 * by a signal. A setting without a condition does not end.
 */
export interface Expiry {
  /** Number of requests that the setting still refuses before it ends. */
  readonly requests?: number | undefined;
  /** Time at which the setting ends, in milliseconds since 1970 on the emulator's clock. */
  readonly at?: number | undefined;
  /**
   * Duration of a setting that has not begun yet, in milliseconds on the emulator's clock. `startExpiry` replaces it by
   * `at`.
   */
  readonly after?: number | undefined;
  /** Name of a latch (named signal). The setting ends when a test releases the latch. */
  readonly signal?: string | undefined;
}

export function isExpired({ requests, at }: Expiry, now: number): boolean {
  return requests === 0 || (at !== undefined && at <= now);
}

/** Returns the condition for a setting that begins at the time `now`. The duration `after` becomes the time `at`. */
export function startExpiry({ after, ...rest }: Expiry, now: number): Expiry {
  return after === undefined ? rest : { ...rest, at: now + after };
}

/** Returns the condition after the setting has refused one more request. */
export function countRequest(ends: Expiry): Expiry {
  return ends.requests === undefined ? ends : { ...ends, requests: ends.requests - 1 };
}

/** Returns the number of seconds until the setting ends, at least 1; undefined if it does not end at a time. */
export function secondsLeft({ at }: Expiry, now: number): number | undefined {
  return at === undefined ? undefined : Math.max(1, Math.ceil((at - now) / 1000));
}
