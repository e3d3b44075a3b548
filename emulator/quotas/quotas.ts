import { matchesGlob } from '../faults/glob.js';
import type { Clock } from '../time/clock.js';
import { type BucketLevel, type BucketRate, refilled, windowOf, withdraw } from './token-bucket.js';

/** Dimensions that can have separate buckets. */
export const PARTITIONS = ['org', 'token', 'key', 'repo', 'op'] as const;
export type Partition = (typeof PARTITIONS)[number];

/** @internal */
export interface Quota extends BucketRate {
  /** Name in `RateLimit`. */
  readonly name: string;
  readonly by: readonly Partition[];
  /** Tokens that an operation takes, by id or glob. The first match counts; without a match, a request takes none. */
  readonly cost: readonly (readonly [operation: string, tokens: number])[];
  readonly retryAfter: RetryAfterForm;
}

/** Format of `Retry-After`: seconds or an HTTP date, with seconds added, or no header. */
export interface RetryAfterForm {
  readonly add: number;
  readonly format: 'seconds' | 'http-date' | 'omit';
}

/** Values of a request by which quotas count it. */
export type QuotaFacts = Readonly<Record<Partition, string>>;

/** Result for a request that exceeds a quota. @internal */
export interface Exhausted {
  readonly quota: Quota;
  readonly remaining: number;
  /** Seconds of the effective window. */
  readonly window: number;
  /** Milliseconds until the request would pass. */
  readonly wait: number;
}

/** @internal */
export interface QuotasSnapshot {
  readonly quotas: ReadonlyMap<string, Quota>;
  readonly buckets: ReadonlyMap<string, BucketLevel>;
}

/** Maximum number of buckets. Beyond it, the least recently used one is evicted, and is full when it is used again. */
const MAX_BUCKETS = 10_000;

/** Quotas of a world, with the levels of their buckets. @internal */
export class Quotas {
  /** Quotas by name, in the order in which they were set. */
  private quotas: ReadonlyMap<string, Quota> = new Map();
  /** Buckets in order of use, the least recently used first. */
  private buckets = new Map<string, BucketLevel>();

  constructor(private readonly clock: Clock) {}

  get isEmpty(): boolean {
    return this.quotas.size === 0;
  }

  list(): Quota[] {
    return [...this.quotas.values()];
  }

  /** Sets quotas by name, and removes those that are undefined. A bucket keeps its level, up to the new capacity. */
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
   * Takes the cost of the request from all quotas, or from none if one is exhausted. Returns the exhausted quota with
   * the longest wait; undefined if the request passes.
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

  /** Converts the buckets of a changed quota to its new rate. If its dimensions changed, its buckets are full. */
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

/** Returns the tokens that a request of the operation takes. */
function costOf({ cost }: Quota, operation: string): number {
  for (const [pattern, tokens] of cost) if (matchesGlob(pattern, operation)) return tokens;
  return 0;
}
