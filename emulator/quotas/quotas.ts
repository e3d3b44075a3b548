import { matchesGlob } from '../faults/glob.js';
import type { Clock } from '../time/clock.js';
import { type BucketLevel, type BucketRate, refilled, windowOf, withdraw } from './token-bucket.js';

/** What has a bucket of its own. */
export const PARTITIONS = ['org', 'token', 'key', 'repo', 'op'] as const;
export type Partition = (typeof PARTITIONS)[number];

/** @internal */
export interface Quota extends BucketRate {
  /** What `RateLimit` calls it. */
  readonly name: string;
  readonly by: readonly Partition[];
  /** Tokens that an operation takes, by its id or by a glob; the first that matches. What is not there takes none. */
  readonly cost: readonly (readonly [operation: string, tokens: number])[];
  readonly retryAfter: RetryAfterForm;
}

/** How `Retry-After` is told: seconds or an HTTP date, so many seconds later than is needed; or not at all. */
export interface RetryAfterForm {
  readonly add: number;
  readonly format: 'seconds' | 'http-date' | 'omit';
}

/** What a request is counted by. */
export type QuotaFacts = Readonly<Record<Partition, string>>;

/** A request beyond a quota. @internal */
export interface Exhausted {
  readonly quota: Quota;
  readonly remaining: number;
  /** Seconds of the effective window. */
  readonly window: number;
  /** Milliseconds until the request can be made. */
  readonly wait: number;
}

/** @internal */
export interface QuotasSnapshot {
  readonly quotas: ReadonlyMap<string, Quota>;
  readonly buckets: ReadonlyMap<string, BucketLevel>;
}

/** Buckets remembered; beyond it the one that was used least recently is forgotten, and full again. */
const MAX_BUCKETS = 10_000;

/** The quotas of a world, and how full the buckets of those are that have come by. @internal */
export class Quotas {
  /** By name, in the order in which they were set. */
  private quotas: ReadonlyMap<string, Quota> = new Map();
  /** In order of use. */
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

  /** Takes what the request costs from every quota, or from none: returns the one that holds it up longest. */
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

  /** Brings the buckets of a quota that was changed to its new rate; those of one that counts by something else are full. */
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

/** Tokens that a request of the operation takes. */
function costOf({ cost }: Quota, operation: string): number {
  for (const [pattern, tokens] of cost) if (matchesGlob(pattern, operation)) return tokens;
  return 0;
}
