import { createHash } from 'node:crypto';
import type { CompiledFault } from './compiled-fault.js';
import { FAULT_LIMITS } from './fault-limits.js';

/** How far a fault has come with the requests that it counts together. */
export interface Count {
  /** Requests that matched. */
  readonly seen: number;
  /** Requests that it met: of a sequence also those that it let pass. */
  readonly met: number;
}

/** Counts by key, at most `FAULT_LIMITS.counters` of them: the one used longest ago goes first. */
export class Counters {
  /** In order of use. */
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

/** Why a fault that matched did not fire. */
export const SKIP_REASONS = ['priority', 'chance', 'window', 'skip', 'every', 'exhausted'] as const;

export type SkipReason = (typeof SKIP_REASONS)[number];

/** What became of the decision about one request: the index of an entry, or why not. */
export type Verdict = { readonly entry: number } | { readonly reason: SkipReason; readonly why: string };

/** What a decision depends on beside the fault and its counter. */
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
  /** The key of the counter used last. */
  latest = '';

  copy(): Tally {
    return Object.assign(new Tally(), { ...this, skipped: { ...this.skipped }, requestIds: [...this.requestIds] });
  }

  /** Decides about one request that matches, and counts it under `key`, in one step. */
  decide(fault: CompiledFault, counters: Counters, key: string, { now, seed }: Circumstances): Verdict {
    this.matched += 1;
    if (now < fault.from || now >= fault.until) return this.skip('window', 'it is outside its window of time');
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

  /** A connection that was not read has no id. */
  fire(requestId: string): void {
    this.fired += 1;
    this.note(requestId);
  }

  /** Notes the request that it touched; of a connection there may be none. */
  note(requestId: string): void {
    if (requestId === '') return;
    this.requestIds.push(requestId);
    if (this.requestIds.length > FAULT_LIMITS.requestIds) this.requestIds.shift();
  }

  /** How many more requests it meets, of those it counts with the last one; undefined: no end. */
  remaining({ times }: CompiledFault, counters: Counters): number | undefined {
    return times === Number.POSITIVE_INFINITY ? undefined : times - counters.get(this.latest).met;
  }
}

/** A fault that requests can meet, with what has become of it. */
export interface FaultEntry {
  readonly id: string;
  /** The text that requests ask for it by; undefined for one that is registered. */
  readonly text: string | undefined;
  /** Of two with the same priority the lower one is asked first. */
  readonly order: number;
  readonly compiled: CompiledFault;
  readonly tally: Tally;
}

function reasonAgainst(
  { skip, times, every, chance }: CompiledFault,
  { seen, met }: Count,
  draw: () => number,
): readonly [SkipReason, string] | undefined {
  if (seen <= skip) return ['skip', `it lets ${skip} pass first`];
  if (met >= times) return ['exhausted', `it has met its ${times}`];
  if ((seen - skip) % every !== 0) return ['every', `it meets one of ${every}`];
  return chance < 1 && draw() >= chance ? ['chance', `its chance of ${chance} was against it`] : undefined;
}

/** From 0 to 1, without 1: the n-th request of a counter always draws the same number from the same seed. */
function drawn(seed: string, key: string, n: number): number {
  const digest = createHash('sha256')
    .update(JSON.stringify([seed, 'fault', key, n]))
    .digest();
  return digest.readUIntBE(0, 6) / 2 ** 48;
}
