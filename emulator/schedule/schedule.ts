/**
 * Number of work units in a millisecond. One unit is about a microsecond of CPU time on a typical machine. Work is
 * counted instead of timed, so that time slices and limits are the same on every machine and under every load.
 */
export const UNITS_PER_MS = 1_000;

/**
 * Length of a time slice in work units. After each slice, the event loop handles the network. In normal operation, a
 * request waits at most this long for another one.
 */
export const SLICE = 4 * UNITS_PER_MS;

/**
 * Maximum duration of a time slice in milliseconds of real time, regardless of the counted work. Needed because code
 * that runs for the first time is many times slower.
 */
const LONGEST_SLICE = 8;

export interface ScheduleOptions {
  /** Returns the time of a monotonic clock in milliseconds. */
  readonly now?: () => number;
}

/** Error with which running and new work is rejected after the schedule was closed. */
export class ScheduleClosed extends Error {
  override readonly name = 'ScheduleClosed';
  constructor() {
    super('the emulator is shutting down');
  }
}

/**
 * Scheduler that divides the event loop between the long computations of all requests. Each iteration of the event loop
 * runs one time slice of one computation. Waiting computations are served in order of arrival (round robin), and the
 * network is handled between two slices.
 */
export class Schedule {
  /** Work units (about a microsecond each) that all computations have spent so far. */
  spent = 0;
  /** Largest number of work units (about a microsecond each) spent in one iteration of the event loop. */
  longestSlice = 0;
  readonly #now: () => number;
  readonly #waiting: { resolve: () => void; reject: (reason: Error) => void }[] = [];
  #isArmed = false;
  #isClosed = false;
  #start = 0;
  #endTime = 0;

  constructor(options: ScheduleOptions = {}) {
    this.#now = options.now ?? (() => performance.now());
  }

  /** Counts work that the running computation has done, in work units (about a microsecond each). */
  spend(units: number): void {
    if (!this.#isArmed) this.#begin();
    this.spent += units;
  }

  /** True if the time slice is over, so that the running computation must await `nextSlice`. */
  get isSliceOver(): boolean {
    if (!this.#isArmed) this.#begin();
    return this.spent - this.#start >= SLICE || this.#isClosed || this.#now() >= this.#endTime;
  }

  /** Resolves when the next time slice of the caller begins. Rejects with `ScheduleClosed` after `close`. */
  nextSlice(): Promise<void> {
    if (this.#isClosed) return Promise.reject(new ScheduleClosed());
    if (!this.#isArmed) this.#begin();
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  /** Makes all waiting and future calls of `nextSlice` reject. */
  close(): void {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.splice(0)) reject(new ScheduleClosed());
  }

  /**
   * Begins a time slice with the first work in an iteration of the event loop. The slice ends in the check phase of
   * this iteration (`setImmediate`).
   */
  #begin(): void {
    this.#isArmed = true;
    this.#start = this.spent;
    this.#endTime = this.#now() + LONGEST_SLICE;
    setImmediate(this.#end);
  }

  readonly #end = (): void => {
    this.longestSlice = Math.max(this.longestSlice, this.spent - this.#start);
    this.#isArmed = false;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#begin();
    next.resolve();
  };
}
