/**
 * Latency in milliseconds for which the time limits of rules are made. On a target with a higher latency, the limits
 * are longer in proportion, because a rule sends up to 200 requests one after the other.
 */
const USUAL = 100;

/** Weight of a new measurement in the average latency, so that it covers about the last 16 responses. */
const WEIGHT = 1 / 16;

/**
 * Latency of a target, from which the time limits of rules are computed, so that a slow target gets the same verdicts
 * as a fast one. Begins with the latency that was measured before the rules, and follows the responses of the run,
 * because a target can be slower while many requests are pending.
 */
export class Latency {
  #average: number;

  constructor(readonly measured = 0) {
    this.#average = measured;
  }

  /** Includes the duration of one more response, in milliseconds, in the average. */
  add(milliseconds: number): void {
    this.#average += (milliseconds - this.#average) * WEIGHT;
  }

  /**
   * Returns a time limit for this target. `milliseconds`: the limit on a fast target. The result is never shorter than
   * on a fast target.
   */
  scale(milliseconds: number): number {
    return Math.ceil(milliseconds * Math.max(1, this.#average / USUAL, this.measured / USUAL));
  }
}
