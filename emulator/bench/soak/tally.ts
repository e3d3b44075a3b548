import { quantile } from '../statistics.js';

/** What a phase saw: how long answers took, by kind of request, and what must not have happened. */
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

  /** Milliseconds; NaN when there was no such request. */
  quantile(kind: string, share: number): number {
    return quantile(this.#times.get(kind) ?? [], share);
  }
}
