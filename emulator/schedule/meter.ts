import { type Schedule, UNITS_PER_MS } from './schedule.js';

/** Thrown when work exceeds its limit. Results delivered until then remain valid. */
export class WorkLimitExceeded extends Error {
  override readonly name = 'WorkLimitExceeded';
  constructor() {
    super('the CPU time limit was reached before the work was done');
  }
}

export interface MeterOptions {
  readonly schedule: Schedule;
  /**
   * CPU time limit in milliseconds on a typical machine; waiting does not count. Throws `WorkLimitExceeded` when
   * exceeded.
   */
  readonly limit?: number | undefined;
  /**
   * Aborted when the result is no longer needed. A function is called at the end of the first time slice or by `check`,
   * because listening for a client's disconnect costs more than most requests take.
   */
  readonly signal?: AbortSignal | (() => AbortSignal | undefined) | undefined;
}

/**
 * Work counter to which every long loop reports:
 *
 *     for (…) {
 *       meter.spend(units);                    // only if no object is read: reading one reports its own cost
 *       if (meter.shouldYield) await meter.yieldToEventLoop();
 *     }
 *
 * It ends a time slice so that other requests are served. It throws when the work exceeds its limit, when its signal is
 * aborted, and at shutdown. The work between two checks should cost at most about 1,000 units.
 */
export class Meter {
  readonly schedule: Schedule;
  readonly #limit: number;
  readonly #signalOf: (() => AbortSignal | undefined) | undefined;
  #signal: AbortSignal | undefined;
  /** Units spent in earlier slices, and the counter of the schedule when the current slice began. */
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
   * True if the caller must `await yieldToEventLoop()`. Reading it counts as one unit, so that a loop that reports nothing is
   * counted by its iterations.
   */
  get shouldYield(): boolean {
    this.schedule.spend(1);
    return this.schedule.isSliceOver || this.#isExhausted || (this.#signal?.aborted ?? false);
  }

  /** Yields to the event loop. Throws `WorkLimitExceeded`, `ScheduleClosed`, or the reason of the signal. */
  async yieldToEventLoop(): Promise<void> {
    this.check();
    this.suspend();
    await this.schedule.nextSlice();
    this.resume();
    this.check();
  }

  /** Called before waiting for anything but the next slice. Work of others until `resume` is not counted. */
  suspend(): void {
    this.#used += this.schedule.spent - this.#from;
    this.#from = Number.POSITIVE_INFINITY;
  }

  resume(): void {
    this.#from = this.schedule.spent;
  }

  /**
   * Throws like `yieldToEventLoop`, without ending the slice. Called before a write, because the client may have disconnected while
   * it waited.
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
