/** Maximum delay of a JavaScript timer in milliseconds, about 24 days. */
const LONGEST = 2 ** 31 - 1;

/**
 * Measures the working time of a rule. Pure waiting does not count: for the rate limit of the run, for the end of
 * throttling, or for a fixture that another rule creates.
 */
export class Stopwatch {
  readonly #underWay = { waiting: 0, asking: 0 };
  #elapsed = 0;
  #since: number | undefined;
  #limit: { readonly milliseconds: number; readonly reached: () => void } | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #stop = new AbortController();

  constructor(readonly now: () => number = () => performance.now()) {
    this.#since = now();
  }

  /** Working time of the rule so far, in milliseconds. */
  get elapsed(): number {
    return this.#elapsed + (this.#since === undefined ? 0 : this.now() - this.#since);
  }

  /**
   * Calls `reached` when the working time reaches this number of milliseconds, unless the stopwatch is stopped before.
   */
  limit(milliseconds: number, reached: () => void): void {
    this.#limit = { milliseconds, reached };
    this.#turn();
  }

  /** Stops the stopwatch permanently, even if the rule still has pending requests. */
  stop(): void {
    this.#limit = undefined;
    clearTimeout(this.#timer);
    this.#stop.abort();
  }

  /** Aborted when the stopwatch is stopped. It ends work of the rule outside the HTTP client, such as a Git process. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  get isStopped(): boolean {
    return this.signal.aborted;
  }

  /** Runs a wait whose duration does not count as working time of the rule. */
  wait<Value>(something: () => Promise<Value>): Promise<Value> {
    return this.#during('waiting', something);
  }

  /** Runs a request. Its duration counts as working time, even while other concurrent parts of the rule only wait. */
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
