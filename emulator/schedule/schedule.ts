/**
 * Work units per millisecond. One unit is about a microsecond on a typical machine. Work is counted instead of timed,
 * so that slices and limits are the same on every machine and under every load.
 */
export const UNITS_PER_MS = 1_000;

/**
 * Units per time slice, after which the event loop handles the network. A request waits at most that long for another
 * one in normal operation.
 */
export const SLICE = 4 * UNITS_PER_MS;

/**
 * Maximum milliseconds of a time slice, whatever was counted, because code that runs for the first time is many times
 * slower.
 */
const LONGEST_SLICE = 8;

export interface ScheduleOptions {
  /** Monotonic clock in milliseconds. */
  readonly now?: () => number;
}

/** Thrown into running and new work after the schedule was closed. */
export class ScheduleClosed extends Error {
  override readonly name = 'ScheduleClosed';
  constructor() {
    super('the emulator is shutting down');
  }
}

/**
 * Shares the event loop among all requests. Each iteration of the loop runs one time slice of long work. Waiting work
 * is served in order of arrival (round robin), and the network is handled between two slices.
 */
export class Schedule {
  /** Units spent so far by all work. */
  spent = 0;
  /** Maximum units spent in one iteration of the event loop. */
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

  /** Reports work that was done. */
  spend(units: number): void {
    if (!this.#isArmed) this.#begin();
    this.spent += units;
  }

  /** True if the running work must await `nextSlice`. */
  get isSliceOver(): boolean {
    if (!this.#isArmed) this.#begin();
    return this.spent - this.#start >= SLICE || this.#isClosed || this.#now() >= this.#endTime;
  }

  /** Resolves when the caller's next slice begins. Rejects with `ScheduleClosed` after `close`. */
  nextSlice(): Promise<void> {
    if (this.#isClosed) return Promise.reject(new ScheduleClosed());
    if (!this.#isArmed) this.#begin();
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  /** Rejects all waiting and future work. */
  close(): void {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.splice(0)) reject(new ScheduleClosed());
  }

  /**
   * Starts a slice with the first work of a loop iteration. The check phase of the same iteration (`setImmediate`) ends
   * it.
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
