import { quantile } from '../statistics.js';

/** Observations of one phase of the soak test: response times by kind of request, and messages about failed checks. */
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
   * Returns the response time in milliseconds below which `share` (0 to 1) of the requests of a kind are. NaN if there
   * was no such request.
   */
  quantile(kind: string, share: number): number {
    return quantile(this.#times.get(kind) ?? [], share);
  }
}
