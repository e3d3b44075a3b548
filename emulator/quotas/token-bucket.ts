/** Capacity and refill rate of a token bucket: `tokens` in `milliseconds`. */
export interface BucketRate {
  readonly capacity: number;
  readonly tokens: number;
  readonly milliseconds: number;
}

/** Immutable state of a bucket at a time. Levels are integer fractions of a token, so nothing is rounded. */
export interface BucketLevel {
  /** Tokens multiplied by the `milliseconds` of the rate. */
  readonly level: number;
  /** Milliseconds on the world's clock. */
  readonly at: number;
}

export interface Withdrawal {
  /** Bucket after the withdrawal; unchanged if it did not contain enough. */
  readonly left: BucketLevel;
  /** Milliseconds until the bucket contains enough; 0 if it did. */
  readonly wait: number;
  /** Number of whole tokens in the bucket. */
  readonly remaining: number;
}

/** Returns the state at `now`. A new bucket is full. Setting the clock back does not empty a bucket. */
export function refilled(rate: BucketRate, before: BucketLevel | undefined, now: number): BucketLevel {
  const full = rate.capacity * rate.milliseconds;
  if (!before) return { level: full, at: now };
  const passed = Math.max(0, now - before.at);
  return { level: Math.min(full, before.level + passed * rate.tokens), at: now };
}

/** Takes `cost` tokens from a bucket. */
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

/** Returns the effective window of a quota: the seconds in which an empty bucket fills. */
export function windowOf({ capacity, tokens, milliseconds }: BucketRate): number {
  return Math.ceil((capacity * milliseconds) / tokens / 1000);
}
