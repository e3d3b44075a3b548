import { createHash } from 'node:crypto';
import type { CompiledFault } from './compiled-fault.js';
import { FAULT_LIMITS } from './fault-limits.js';

/** Counter of the requests that match a fault. */
export interface Count {
  /** Number of matching requests. */
  readonly seen: number;
  /**
   * Number of matching requests that `skip` and `every` selected. In a sequence, requests whose entry is `pass` are
   * included.
   */
  readonly met: number;
}

/** LRU map of counters by key, with at most `FAULT_LIMITS.counters` entries. */
export class Counters {
  /** Entries in order of use, the least recently used first. */
  private byKey: Map<string, Count>;

  constructor(counts: Iterable<readonly [string, Count]> = []) {
    this.byKey = new Map(counts);
  }

  get(key: string): Count {
    return this.byKey.get(key) ?? { seen: 0, met: 0 };
  }

  set(key: string, count: Count): void {
    this.byKey.delete(key);
    this.byKey.set(key, count);
    if (this.byKey.size > FAULT_LIMITS.counters) this.byKey.delete(this.byKey.keys().next().value!);
  }

  delete(isMeant: (key: string) => boolean): void {
    for (const key of this.byKey.keys()) if (isMeant(key)) this.byKey.delete(key);
  }

  snapshot(): ReadonlyMap<string, Count> {
    return new Map(this.byKey);
  }
}

/** Reasons why a fault did not fire for a request that matched all its conditions. */
export const SKIP_REASONS = ['priority', 'chance', 'window', 'skip', 'every', 'exhausted'] as const;

export type SkipReason = (typeof SKIP_REASONS)[number];

/**
 * Decision about one matching request: the index of the entry of actions that fires, or the reason why the fault does
 * not fire.
 */
export type Verdict = { readonly entry: number } | { readonly reason: SkipReason; readonly why: string };

/** Inputs of a decision besides the fault and its counter. */
export interface Circumstances {
  /** Milliseconds on the world's clock. */
  readonly now: number;
  readonly seed: string;
}

/** Counts the requests of one fault. */
export class Tally {
  matched = 0;
  fired = 0;
  readonly skipped = Object.fromEntries(SKIP_REASONS.map((reason) => [reason, 0])) as Record<SkipReason, number>;
  requestIds: string[] = [];
  /** Key of the counter used last. */
  latest = '';

  copy(): Tally {
    return Object.assign(new Tally(), { ...this, skipped: { ...this.skipped }, requestIds: [...this.requestIds] });
  }

  /**
   * Decides if the fault fires for a matching request, and counts the request under `key`. Synchronous, so that
   * concurrent requests are counted one after the other.
   */
  decide(fault: CompiledFault, counters: Counters, key: string, { now, seed }: Circumstances): Verdict {
    this.matched += 1;
    if (now < fault.from || now >= fault.until)
      return this.skip('window', 'the time is outside its when.from and when.until');
    const before = counters.get(key);
    const { met } = before;
    const seen = before.seen + 1;
    this.latest = key;
    const reason = reasonAgainst(fault, { seen, met }, () => drawn(seed, key, seen));
    counters.set(key, { seen, met: reason ? met : met + 1 });
    return reason ? this.skip(...reason) : { entry: fault.isSequence ? met : 0 };
  }

  skip(reason: SkipReason, why: string): Verdict {
    this.skipped[reason] += 1;
    return { reason, why };
  }

  /** A connection that ended before its request was read has no request id. */
  fire(requestId: string): void {
    this.fired += 1;
    this.note(requestId);
  }

  /** Adds the id of a request for which the fault fired to the last ids. Ignores the empty id. */
  note(requestId: string): void {
    if (requestId === '') return;
    this.requestIds.push(requestId);
    if (this.requestIds.length > FAULT_LIMITS.requestIds) this.requestIds.shift();
  }

  /**
   * Returns the number of further requests for which the fault fires; undefined if unlimited. Uses the counter that was
   * used last.
   */
  remaining({ times }: CompiledFault, counters: Counters): number | undefined {
    return times === Number.POSITIVE_INFINITY ? undefined : times - counters.get(this.latest).met;
  }
}

/** Fault with its counts. */
export interface FaultEntry {
  readonly id: string;
  /** Text of a fault that requests ask for; undefined if the fault was registered through the admin API. */
  readonly text: string | undefined;
  /** Among faults of equal priority, a lower number is tried first. */
  readonly order: number;
  readonly compiled: CompiledFault;
  readonly tally: Tally;
}

function reasonAgainst(
  { skip, times, every, chance }: CompiledFault,
  { seen, met }: Count,
  draw: () => number,
): readonly [SkipReason, string] | undefined {
  if (seen <= skip) return ['skip', `it skips the first ${skip} matching requests`];
  if (met >= times) return ['exhausted', `it has already fired ${times} times, its maximum`];
  if ((seen - skip) % every !== 0) return ['every', `it fires for every ${every}th matching request only`];
  return chance < 1 && draw() >= chance ? ['chance', `the random choice (chance ${chance}) was against it`] : undefined;
}

/**
 * Returns a pseudorandom number from 0 (inclusive) to 1 (exclusive), which depends only on seed, counter and number of
 * the request.
 */
function drawn(seed: string, key: string, n: number): number {
  const digest = createHash('sha256')
    .update(JSON.stringify([seed, 'fault', key, n]))
    .digest();
  return digest.readUIntBE(0, 6) / 2 ** 48;
}
