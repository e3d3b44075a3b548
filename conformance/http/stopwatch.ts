/** A timer holds 24 days. */
const LONGEST = 2 ** 31 - 1;

/**
 * Measures how long a rule is at work: the time in which all it does is wait for its turn is left out. What it waits
 * for is not its own: the pace of the run, the end of a 429, a fixture that another rule makes.
 */
export class Stopwatch {
  readonly #underWay = { waiting: 0, asking: 0 };
  #elapsed = 0;
  #since: number | undefined;
  #limit: { readonly milliseconds: number; readonly reached: () => void } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(readonly now: () => number = () => performance.now()) {
    this.#since = now();
  }

  /** Milliseconds at work. */
  get elapsed(): number {
    return this.#elapsed + (this.#since === undefined ? 0 : this.now() - this.#since);
  }

  /** Calls `reached` once so many milliseconds were worked, unless it was stopped before. */
  limit(milliseconds: number, reached: () => void): void {
    this.#limit = { milliseconds, reached };
    this.#turn();
  }

  /** The rule is over, whatever it still does. */
  stop(): void {
    this.#isStopped = true;
    this.#limit = undefined;
    clearTimeout(this.#timer);
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Waits for something that is not the rule's own work. */
  wait<Value>(something: () => Promise<Value>): Promise<Value> {
    return this.#during('waiting', something);
  }

  /** Has a request under way, whatever else of the rule is waiting. */
  ask<Value>(request: () => Promise<Value>): Promise<Value> {
    return this.#during('asking', request);
  }

  async #during<Value>(what: 'waiting' | 'asking', act: () => Promise<Value>): Promise<Value> {
    this.#underWay[what] += 1;
    this.#turn();
    try {
      return await act();
    } finally {
      this.#underWay[what] -= 1;
      this.#turn();
    }
  }

  #turn(): void {
    this.#elapsed = this.elapsed;
    this.#since = this.#underWay.waiting === 0 || this.#underWay.asking > 0 ? this.now() : undefined;
    clearTimeout(this.#timer);
    if (this.#limit === undefined || this.#since === undefined) return;
    const { milliseconds, reached } = this.#limit;
    this.#timer = setTimeout(reached, Math.min(LONGEST, Math.max(0, milliseconds - this.#elapsed)));
  }
}
