import { createHash } from 'node:crypto';
import type { CompiledFault } from './compiled-fault.js';
import { FAULT_LIMITS } from './fault-limits.js';

/**
 * Counter of the requests that match a fault. A fault with `when.by` has several counters, for example one per
 * repository.
 */
export interface Count {
  /** Number of requests that have matched the conditions of the fault. */
  readonly seen: number;
  /**
   * Number of these requests that passed `skip`, `every` and `chance`, so that the fault fired. Requests that got the
   * entry `pass` of a sequence are included.
   */
  readonly met: number;
}

/** LRU map of fault counters with at most `FAULT_LIMITS.counters` entries. Each key starts with the id of the fault. */
export class Counters {
  /** Counters in order of use; the least recently used comes first. */
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

/** Reasons why a fault did not fire although a request met all conditions of its `match`. */
export const SKIP_REASONS = ['priority', 'chance', 'window', 'skip', 'every', 'exhausted'] as const;

export type SkipReason = (typeof SKIP_REASONS)[number];

/**
 * Decision about one matching request. Either the index of the list of actions to carry out (0 without a sequence), or
 * the reason why the fault does not fire. `seen` is the number of the request in its counter, for random choices.
 */
export type Verdict =
  | { readonly entry: number; readonly seen: number }
  | { readonly reason: SkipReason; readonly why: string };

/** Inputs of a decision, in addition to the fault and its counter. `seed` is the seed of random choices. */
export interface Circumstances {
  /** Current time on the clock of the emulated service, in milliseconds since 1970. */
  readonly now: number;
  readonly seed: string;
}

/**
 * Counts of one fault: how many requests matched it, and for how many it fired. `decide` uses the counts to decide
 * about the next request.
 */
export class Tally {
  matched = 0;
  fired = 0;
  readonly skipped = Object.fromEntries(SKIP_REASONS.map((reason) => [reason, 0])) as Record<SkipReason, number>;
  requestIds: string[] = [];
  /** Key of the counter that the latest matching request used. */
  latest = '';

  copy(): Tally {
    return Object.assign(new Tally(), { ...this, skipped: { ...this.skipped }, requestIds: [...this.requestIds] });
  }

  /**
   * Decides whether the fault fires for a matching request, and counts the request in the counter `key`. Synchronous,
   * so that concurrent requests are counted one after the other.
   */
  decide(fault: CompiledFault, counters: Counters, key: string, { now, seed }: Circumstances): Verdict {
    this.matched += 1;
    if (now < fault.from || now >= fault.until)
      return this.skip('window', 'the current time is not between its when.from and its when.until');
    const before = counters.get(key);
    const { met } = before;
    const seen = before.seen + 1;
    this.latest = key;
    const reason = reasonAgainst(fault, { seen, met }, () => drawn(seed, key, seen));
    counters.set(key, { seen, met: reason ? met : met + 1 });
    return reason ? this.skip(...reason) : { entry: fault.isSequence ? met : 0, seen };
  }

  skip(reason: SkipReason, why: string): Verdict {
    this.skipped[reason] += 1;
    return { reason, why };
  }

  /** Records that the fault fired. `requestId` is empty if the connection ended before its request was read. */
  fire(requestId: string): void {
    this.fired += 1;
    this.note(requestId);
  }

  /** Adds a request id to `requestIds`, and removes the oldest id if there are too many. Ignores an empty id. */
  note(requestId: string): void {
    if (requestId === '') return;
    this.requestIds.push(requestId);
    if (this.requestIds.length > FAULT_LIMITS.requestIds) this.requestIds.shift();
  }

  /**
   * Returns the number of requests for which the fault can still fire; undefined if unlimited. If the fault has several
   * counters, this is the value of the last used counter.
   */
  remaining({ times }: CompiledFault, counters: Counters): number | undefined {
    return times === Number.POSITIVE_INFINITY ? undefined : times - counters.get(this.latest).met;
  }
}

/** Fault with its counts, as the registry of faults stores it. */
export interface FaultEntry {
  readonly id: string;
  /**
   * Text of an in-band fault, which requests ask for in a header or claim. Undefined if the fault was registered
   * through the admin API.
   */
  readonly text: string | undefined;
  /** Order among faults of equal priority: the lowest number is tried first. */
  readonly order: number;
  readonly compiled: CompiledFault;
  readonly tally: Tally;
}

/**
 * Returns why a fault does not fire for a matching request, as a reason and its description. Returns undefined if the
 * fault fires. `seen` counts the matching requests including this one; `met` counts the earlier firings.
 */
function reasonAgainst(
  { skip, times, every, chance }: CompiledFault,
  { seen, met }: Count,
  draw: () => number,
): readonly [SkipReason, string] | undefined {
  if (seen <= skip) return ['skip', `it skips the first ${skip} matching requests (when.skip)`];
  if (met >= times) return ['exhausted', `it has already fired ${times} times, its maximum (when.times)`];
  if ((seen - skip) % every !== 0)
    return ['every', `it fires only for one of every ${every} matching requests (when.every)`];
  return chance < 1 && draw() >= chance
    ? ['chance', `the random choice decided against it (when.chance is ${chance})`]
    : undefined;
}

/**
 * Returns a function that returns pseudorandom numbers from 0 (inclusive) to 1 (exclusive), for one firing of a fault.
 * They depend only on the seed, the counter's key, the request number `n`, and `action`, the index of the action. So a
 * test run can be repeated.
 */
export function randomOf(seed: string, key: string, n: number, action: number): () => number {
  let count = 0;
  return () => drawn(seed, key, n, action, count++);
}

/**
 * Returns a pseudorandom number from 0 (inclusive) to 1 (exclusive). It depends only on the seed, the counter's key and
 * the numbers, so that a test run can be repeated.
 */
function drawn(seed: string, key: string, ...numbers: readonly number[]): number {
  const digest = createHash('sha256')
    .update(JSON.stringify([seed, 'fault', key, ...numbers]))
    .digest();
  return digest.readUIntBE(0, 6) / 2 ** 48;
}
