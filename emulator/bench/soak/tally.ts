import { quantile } from '../statistics.js';

/** Most sentences kept about what went wrong; the rest is counted. */
const MOST_FINDINGS = 20;

/** What a phase saw: how long answers took, by kind of request, and what must not have happened. */
export class Tally {
  readonly findings: string[] = [];
  #broken = 0;
  readonly #times = new Map<string, number[]>();

  /** Broken invariants. */
  get broken(): number {
    return this.#broken;
  }

  get requests(): number {
    return [...this.#times.values()].reduce((sum, times) => sum + times.length, 0);
  }

  time(kind: string, milliseconds: number): void {
    const times = this.#times.get(kind) ?? [];
    times.push(milliseconds);
    this.#times.set(kind, times);
  }

  expect(holds: boolean, finding: string): void {
    if (holds) return;
    this.#broken += 1;
    if (this.findings.length < MOST_FINDINGS) this.findings.push(finding);
  }

  /** Milliseconds; NaN when there was no such request. */
  quantile(kind: string, share: number): number {
    return quantile(this.#times.get(kind) ?? [], share);
  }
}
