/** How much a bucket holds, and how it fills: so many tokens in so many milliseconds. */
export interface BucketRate {
  readonly capacity: number;
  readonly tokens: number;
  readonly milliseconds: number;
}

/** A bucket as it was at a time: an immutable value. Levels are whole parts of a token, so that nothing is rounded. */
export interface BucketLevel {
  /** Tokens times the `milliseconds` of the rate. */
  readonly level: number;
  /** Milliseconds on the world's clock. */
  readonly at: number;
}

export interface Withdrawal {
  /** The bucket after it; the bucket as it is, where there was not enough. */
  readonly left: BucketLevel;
  /** Milliseconds until there is enough; 0 where there was. */
  readonly wait: number;
  /** Whole tokens that are there. */
  readonly remaining: number;
}

/** The level at `now`; a bucket never seen before is full. A clock that was set back does not empty it. */
export function refilled(rate: BucketRate, before: BucketLevel | undefined, now: number): BucketLevel {
  const full = rate.capacity * rate.milliseconds;
  if (!before) return { level: full, at: now };
  const passed = Math.max(0, now - before.at);
  return { level: Math.min(full, before.level + passed * rate.tokens), at: now };
}

/** What taking `cost` tokens comes to. */
export function withdraw(rate: BucketRate, bucket: BucketLevel, cost: number): Withdrawal {
  const price = cost * rate.milliseconds;
  const missing = price - bucket.level;
  const left = missing > 0 ? bucket : { ...bucket, level: bucket.level - price };
  return {
    left,
    wait: missing > 0 ? Math.ceil(missing / rate.tokens) : 0,
    remaining: Math.floor(left.level / rate.milliseconds),
  };
}

/** Seconds in which an empty bucket fills: the effective window of the quota. */
export function windowOf({ capacity, tokens, milliseconds }: BucketRate): number {
  return Math.ceil((capacity * milliseconds) / tokens / 1000);
}
