/** When something that was set for a while is over: after so many requests, at a time, or when it is told. */
export interface Ends {
  /** Requests that are still to meet it. */
  readonly requests?: number | undefined;
  /** Milliseconds since 1970, on the world's clock. */
  readonly at?: number | undefined;
  /** The name of a latch, whose release ends it. */
  readonly signal?: string | undefined;
}

export function isOver({ requests, at }: Ends, now: number): boolean {
  return requests === 0 || (at !== undefined && at <= now);
}

/** After one more request has met it. */
export function afterRequest(ends: Ends): Ends {
  return ends.requests === undefined ? ends : { ...ends, requests: ends.requests - 1 };
}

/** Seconds until it is over, at least 1; undefined where the time does not end it. */
export function secondsLeft({ at }: Ends, now: number): number | undefined {
  return at === undefined ? undefined : Math.max(1, Math.ceil((at - now) / 1000));
}
