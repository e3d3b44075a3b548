/**
 * Latency in milliseconds for which the time limits of rules are made. If the target's latency is higher, the limits
 * grow in proportion, because a rule sends up to 200 requests one after the other.
 */
const USUAL = 100;

/** Weight of a new measurement in the average latency. The average then covers about the last 16 responses. */
const WEIGHT = 1 / 16;

/**
 * Latency of a target. Time limits of rules depend on it, so that a slow target gets the same verdicts as a fast one.
 * It begins with the latency measured before the rules. The responses of the run then change it, because a target can
 * be slower while many requests are pending.
 */
export class Latency {
  #average: number;

  constructor(readonly measured = 0) {
    this.#average = measured;
  }

  /** Adds the duration of one response, in milliseconds, to the average. */
  add(milliseconds: number): void {
    this.#average += (milliseconds - this.#average) * WEIGHT;
  }

  /** Returns a time limit for this target. `milliseconds`: limit on a fast target. The result is never shorter. */
  scale(milliseconds: number): number {
    return Math.ceil(milliseconds * Math.max(1, this.#average / USUAL, this.measured / USUAL));
  }
}
