import { quantile } from '../statistics.js';

/**
 * Observations of one phase of the soak test: response times for each kind of request, and messages about failed
 * checks.
 */
export class Tally {
  /** Messages about failed checks, in order. */
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

  /**
   * Returns a quantile of the response times of one kind of request, in milliseconds. `share` is from 0 to 1; 0.5 gives
   * the median. NaN if there was no such request.
   */
  quantile(kind: string, share: number): number {
    return quantile(this.#times.get(kind) ?? [], share);
  }
}
