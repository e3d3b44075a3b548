import { type Schedule, UNITS_PER_MS } from './schedule.js';

/** Error thrown if a request exceeds its limit of CPU work. Results that were delivered before remain valid. */
export class WorkLimitExceeded extends Error {
  override readonly name = 'WorkLimitExceeded';
  constructor() {
    super('the CPU time limit was reached before the work was done');
  }
}

export interface MeterOptions {
  readonly schedule: Schedule;
  /**
   * Limit of CPU work in milliseconds on a typical machine; unlimited if undefined. Waiting does not count. The meter
   * throws `WorkLimitExceeded` if the limit is exceeded.
   */
  readonly limit?: number | undefined;
  /**
   * Signal that is aborted when the result is no longer needed, or a function that creates this signal. The function is
   * called late: at the end of the first time slice, or in `check`. Most requests end earlier, and creating the signal
   * costs more than most requests, because it listens for the disconnect of the client.
   */
  readonly signal?: AbortSignal | (() => AbortSignal | undefined) | undefined;
}

/**
 * Counter of the CPU work of one request. Every long loop reports to it:
 *
 * for (…) {
 * meter.spend(units); // only if no object is read: reading one reports its own cost
 * if (meter.shouldYield) await meter.yieldToEventLoop();
 * }
 *
 * The meter makes the loop pause when its time slice is over, so that other requests are served. It throws if the work
 * exceeds its limit, if its signal is aborted, and at shutdown. The work between two checks should cost at most about
 * 1,000 work units (about a microsecond each).
 */
export class Meter {
  readonly schedule: Schedule;
  readonly #limit: number;
  readonly #signalOf: (() => AbortSignal | undefined) | undefined;
  #signal: AbortSignal | undefined;
  /**
   * `#used`: work units spent in earlier time slices. `#from`: value of `schedule.spent` at the beginning of the
   * current slice.
   */
  #used = 0;
  #from: number;

  constructor(options: MeterOptions) {
    this.schedule = options.schedule;
    this.#limit = (options.limit ?? Number.POSITIVE_INFINITY) * UNITS_PER_MS;
    const { signal } = options;
    if (typeof signal === 'function') this.#signalOf = signal;
    else this.#signal = signal;
    this.#from = this.schedule.spent;
  }

  spend(units: number): void {
    this.schedule.spend(units);
  }

  /**
   * True if the caller must `await yieldToEventLoop()`. Each read costs one work unit, so that a loop that reports no
   * work is limited by its number of iterations.
   */
  get shouldYield(): boolean {
    this.schedule.spend(1);
    return this.schedule.isSliceOver || this.#isExhausted || (this.#signal?.aborted ?? false);
  }

  /**
   * Ends the time slice of the caller, and resolves when its next one begins. Throws `WorkLimitExceeded`,
   * `ScheduleClosed`, or the abort reason of the signal.
   */
  async yieldToEventLoop(): Promise<void> {
    this.check();
    this.suspend();
    await this.schedule.nextSlice();
    this.resume();
    this.check();
  }

  /**
   * Stops counting until `resume`. Called before the request waits for anything other than its next time slice, for
   * example for data. Work that other requests do in the meantime is not counted.
   */
  suspend(): void {
    this.#used += this.schedule.spent - this.#from;
    this.#from = Number.POSITIVE_INFINITY;
  }

  resume(): void {
    this.#from = this.schedule.spent;
  }

  /**
   * Throws in the same cases as `yieldToEventLoop`, but does not end the time slice. Called before a write, because the
   * client may have disconnected while the request waited.
   */
  check(): void {
    this.#signal ??= this.#signalOf?.();
    this.#signal?.throwIfAborted();
    if (this.#isExhausted) throw new WorkLimitExceeded();
  }

  get #isExhausted(): boolean {
    return this.#used + Math.max(0, this.schedule.spent - this.#from) >= this.#limit;
  }
}
