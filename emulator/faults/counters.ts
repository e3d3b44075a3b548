import type { Fault } from './asked.js';

const MAX_COUNTERS = 10_000;

/**
 * How often each fault was asked for, per caller: the same header on every request counts on, so
 * `rate_limited*2` hits a caller's first two requests and lets the third pass. The decision is taken
 * in one step, before anything waits; concurrent requests cannot both take the last one.
 */
export class FaultCounters {
  /** In order of use. */
  private seen = new Map<string, number>();

  /** Whether the fault fires for this request of `caller`. */
  take(fault: Fault, caller: string): boolean {
    if (fault.times === Number.POSITIVE_INFINITY && fault.skip === 0) return true;
    const key = `${caller}\0${fault.text}`;
    const seen = this.seen.get(key) ?? 0;
    this.seen.delete(key);
    this.seen.set(key, seen + 1);
    if (this.seen.size > MAX_COUNTERS) this.seen.delete(this.seen.keys().next().value!);
    return seen >= fault.skip && seen < fault.skip + fault.times;
  }

  snapshot(): ReadonlyMap<string, number> {
    return new Map(this.seen);
  }

  restore(seen: ReadonlyMap<string, number>): void {
    this.seen = new Map(seen);
  }
}
