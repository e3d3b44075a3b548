/**
 * Capacity and refill rate of a token bucket: `tokens` are added per `milliseconds`, continuously and up to `capacity`.
 */
export interface BucketRate {
  readonly capacity: number;
  readonly tokens: number;
  readonly milliseconds: number;
}

/**
 * Immutable state of a token bucket at one time. The level is an integer in fractions of a token, so that nothing is
 * rounded.
 */
export interface BucketLevel {
  /** Number of tokens, multiplied by `BucketRate.milliseconds` to make it an integer. */
  readonly level: number;
  /** Time of this state, in milliseconds on the clock of the emulated service. */
  readonly at: number;
}

export interface Withdrawal {
  /** Bucket after the withdrawal; unchanged if it did not contain enough tokens. */
  readonly left: BucketLevel;
  /** Number of milliseconds until the bucket contains enough tokens; 0 if it already does. */
  readonly wait: number;
  /** Number of whole tokens in the bucket after the withdrawal. */
  readonly remaining: number;
}

/**
 * Returns the state of a bucket at `now`, with the tokens that were added since `before`. A new bucket (`before`
 * undefined) is full. If the clock was set back, the level stays.
 */
export function refilled(rate: BucketRate, before: BucketLevel | undefined, now: number): BucketLevel {
  const full = rate.capacity * rate.milliseconds;
  if (!before) return { level: full, at: now };
  const passed = Math.max(0, now - before.at);
  return { level: Math.min(full, before.level + passed * rate.tokens), at: now };
}

/** Takes `cost` tokens from a bucket that is up to date (see `refilled`). Takes nothing if it contains fewer. */
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

/**
 * Returns the effective window of a quota for the header `RateLimit`: the number of seconds in which an empty bucket
 * fills.
 */
export function windowOf({ capacity, tokens, milliseconds }: BucketRate): number {
  return Math.ceil((capacity * milliseconds) / tokens / 1000);
}
