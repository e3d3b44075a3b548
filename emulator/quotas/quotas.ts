import { matchesGlob } from '../faults/glob.js';
import type { Clock } from '../time/clock.js';
import { type BucketLevel, type BucketRate, refilled, windowOf, withdraw } from './token-bucket.js';

/**
 * Properties of a request by which quotas can count it separately: organization, token (by its `sub`), signing key,
 * repository and operation.
 */
export const PARTITIONS = ['org', 'token', 'key', 'repo', 'op'] as const;
export type Partition = (typeof PARTITIONS)[number];

/** @internal */
export interface Quota extends BucketRate {
  /** Name of the quota, which appears in the header `RateLimit`. */
  readonly name: string;
  /** Properties of a request by which it is counted separately. Each combination of values has its own bucket. */
  readonly by: readonly Partition[];
  /**
   * Number of tokens that a request takes, by operation id or glob. The first match counts. A request without a match
   * takes none.
   */
  readonly cost: readonly (readonly [operation: string, tokens: number])[];
  readonly retryAfter: RetryAfterForm;
}

/**
 * Form of the `Retry-After` header. `add`: seconds that are added to the real waiting time. `format`: a number of
 * seconds, an HTTP date, or no header (`omit`).
 */
export interface RetryAfterForm {
  readonly add: number;
  readonly format: 'seconds' | 'http-date' | 'omit';
}

/** Values of the properties by which quotas count a request, such as the name of its organization. */
export type QuotaFacts = Readonly<Record<Partition, string>>;

/** Result for a request that exceeds a quota: the exceeded quota, and how long the client must wait. @internal */
export interface Exhausted {
  readonly quota: Quota;
  readonly remaining: number;
  /** Effective window of the quota: the number of seconds in which an empty bucket fills. */
  readonly window: number;
  /** Number of milliseconds until the bucket contains enough tokens for the request. */
  readonly wait: number;
}

/** @internal */
export interface QuotasSnapshot {
  readonly quotas: ReadonlyMap<string, Quota>;
  readonly buckets: ReadonlyMap<string, BucketLevel>;
}

/**
 * Maximum number of buckets of all quotas together. Beyond it, the least recently used bucket is evicted. An evicted
 * bucket is full when it is used again.
 */
const MAX_BUCKETS = 10_000;

/**
 * Quotas (token buckets that limit the rate of requests) of one emulated service, with the current levels of their
 * buckets. @internal
 */
export class Quotas {
  /** Quotas by name, in the order in which they were first set. */
  private quotas: ReadonlyMap<string, Quota> = new Map();
  /**
   * Levels of the buckets, the least recently used first. The key is a JSON array of the name of the quota and the
   * values by which it counts the request.
   */
  private buckets = new Map<string, BucketLevel>();

  constructor(private readonly clock: Clock) {}

  get isEmpty(): boolean {
    return this.quotas.size === 0;
  }

  list(): Quota[] {
    return [...this.quotas.values()];
  }

  /**
   * Sets quotas by name, and removes those whose value is undefined. The buckets of a changed quota keep their level,
   * up to the new capacity.
   */
  change(changes: ReadonlyMap<string, Quota | undefined>): void {
    const quotas = new Map(this.quotas);
    for (const [name, quota] of changes) {
      const before = quotas.get(name);
      if (!quota) quotas.delete(name);
      else quotas.set(name, quota);
      this.convert(name, before, quota);
    }
    this.quotas = quotas;
  }

  /**
   * Takes the cost of a request from all quotas, or from none if at least one is exhausted. Returns the exhausted quota
   * with the longest wait; undefined if the request passes.
   */
  take(facts: QuotaFacts): Exhausted | undefined {
    const now = this.clock.now();
    const taken: (readonly [key: string, level: BucketLevel])[] = [];
    let exhausted: Exhausted | undefined;
    for (const quota of this.quotas.values()) {
      const cost = costOf(quota, facts.op);
      if (cost === 0) continue;
      const key = JSON.stringify([quota.name, ...quota.by.map((partition) => facts[partition])]);
      const { left, wait, remaining } = withdraw(quota, refilled(quota, this.buckets.get(key), now), cost);
      taken.push([key, left]);
      if (wait > (exhausted?.wait ?? 0)) exhausted = { quota, remaining, window: windowOf(quota), wait };
    }
    if (!exhausted) for (const [key, level] of taken) this.put(key, level);
    return exhausted;
  }

  snapshot(): QuotasSnapshot {
    return { quotas: this.quotas, buckets: new Map(this.buckets) };
  }

  restore({ quotas, buckets }: QuotasSnapshot): void {
    this.quotas = quotas;
    this.buckets = new Map(buckets);
  }

  private put(key: string, level: BucketLevel): void {
    this.buckets.delete(key);
    this.buckets.set(key, level);
    if (this.buckets.size > MAX_BUCKETS) this.buckets.delete(this.buckets.keys().next().value!);
  }

  /**
   * Converts the levels of a changed quota's buckets to the new refill rate. Removes the buckets if the quota was
   * removed, or now counts by other properties; new buckets are full.
   */
  private convert(name: string, before: Quota | undefined, after: Quota | undefined): void {
    if (!before) return;
    const now = this.clock.now();
    const isCompatible = after !== undefined && before.by.join() === after.by.join();
    for (const [key, level] of this.buckets) {
      if ((JSON.parse(key) as string[])[0] !== name) continue;
      if (!isCompatible) this.buckets.delete(key);
      else {
        const { level: parts } = refilled(before, level, now);
        const tokens = Math.floor((parts * after.milliseconds) / before.milliseconds);
        this.buckets.set(key, { level: Math.min(tokens, after.capacity * after.milliseconds), at: now });
      }
    }
  }
}

/** Returns the number of tokens that a request to the operation takes from the quota. */
function costOf({ cost }: Quota, operation: string): number {
  for (const [pattern, tokens] of cost) if (matchesGlob(pattern, operation)) return tokens;
  return 0;
}
