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
