import { type Schedule, UNITS_PER_MS } from './schedule.js';

/** Thrown when work came to its limit before it was done. What was done until then stays valid. */
export class WorkLimitExceeded extends Error {
  override readonly name = 'WorkLimitExceeded';
  constructor() {
    super('the work came to its limit before it was done');
  }
}

export interface MeterOptions {
  readonly schedule: Schedule;
  /** Milliseconds of work on an ordinary machine; waiting is no work. Past it, `WorkLimitExceeded`. */
  readonly limit?: number | undefined;
  /**
   * Aborted when the result is not wanted any more. A function is called when the first slice is over, or by `check`: to
   * listen for the end of a client costs more than most requests work.
   */
  readonly signal?: AbortSignal | (() => AbortSignal | undefined) | undefined;
}

/**
 * What every long loop reports to:
 *
 *     for (…) {
 *       meter.spend(units);                    // where no object is read: reading one reports by itself
 *       if (meter.isOver) await meter.pass();
 *     }
 *
 * It ends a slice so that others are served, and ends the work when it came to its limit, when its signal is
 * aborted, and at shutdown. No single piece between two looks should cost more than `LARGEST_PIECE`.
 */
export class Meter {
  readonly schedule: Schedule;
  readonly #limit: number;
  readonly #signalOf: (() => AbortSignal | undefined) | undefined;
  #signal: AbortSignal | undefined;
  /** Units of earlier slices, and what the schedule had counted when this one began. */
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

  /** Whether it is time to `pass`. Asking counts as one unit, so that a loop that reports nothing is counted by its rounds. */
  get isOver(): boolean {
    this.schedule.spend(1);
    return this.schedule.isSliceOver || this.#isExhausted || (this.#signal?.aborted ?? false);
  }

  /** Lets everything else that is ready run. Throws `WorkLimitExceeded`, `ScheduleClosed`, or the reason of the signal. */
  async pass(): Promise<void> {
    this.check();
    this.suspend();
    await this.schedule.nextSlice();
    this.resume();
    this.check();
  }

  /** Before waiting for something else than the next slice: what others do until `resume` does not count here. */
  suspend(): void {
    this.#used += this.schedule.spent - this.#from;
    this.#from = Number.POSITIVE_INFINITY;
  }

  resume(): void {
    this.#from = this.schedule.spent;
  }

  /** Throws as `pass` does, without ending the slice: before a write, whose client may have left while it waited. */
  check(): void {
    this.#signal ??= this.#signalOf?.();
    this.#signal?.throwIfAborted();
    if (this.#isExhausted) throw new WorkLimitExceeded();
  }

  get #isExhausted(): boolean {
    return this.#used + Math.max(0, this.schedule.spent - this.#from) >= this.#limit;
  }
}
