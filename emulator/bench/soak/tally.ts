import { quantile } from '../statistics.js';

/** Observations of a phase: durations of responses by kind of request, and broken invariants. */
export class Tally {
  /** Broken invariants. */
  readonly findings: string[] = [];
  readonly #times = new Map<string, number[]>();

  get requests(): number {
    return [...this.#times.values()].reduce((sum, times) => sum + times.length, 0);
  }

  time(kind: string, milliseconds: number): void {
    const times = this.#times.get(kind) ?? [];
    times.push(milliseconds);
    this.#times.set(kind, times);
  }

  expect(holds: boolean, finding: string): void {
    if (!holds) this.findings.push(finding);
  }

  /** Returns a duration in milliseconds; NaN if there was no such request. */
  quantile(kind: string, share: number): number {
    return quantile(this.#times.get(kind) ?? [], share);
  }
}
