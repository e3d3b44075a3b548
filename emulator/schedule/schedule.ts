/**
 * Work is counted in units: one is about what an ordinary machine does in a microsecond. Counted, not timed, a slice of
 * work and a limit on it are the same wherever and beside whatever they run.
 */
export const UNITS_PER_MS = 1_000;

/** Units between two looks at the network: all that a request waits for others, when nothing else is wrong. */
export const SLICE = 4 * UNITS_PER_MS;

/** Milliseconds after which a slice is over whatever was counted: code that runs for the first time is many times slower. */
const LONGEST_SLICE = 8;

export interface ScheduleOptions {
  /** A clock that never runs backwards, in milliseconds. */
  readonly now?: () => number;
}

/** Thrown into work that is under way, or begun, when the schedule was closed. */
export class ScheduleClosed extends Error {
  override readonly name = 'ScheduleClosed';
  constructor() {
    super('the emulator is shutting down');
  }
}

/**
 * Shares the event loop between all requests: in each of its iterations one slice of long work runs, of any request.
 * What waits for its next slice is served in order of arrival, and between two slices the network is looked at.
 */
export class Schedule {
  /** Units spent so far, by all work. */
  spent = 0;
  /** The most units spent in one iteration of the loop. */
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

  /** Reports work as done. */
  spend(units: number): void {
    if (!this.#isArmed) this.#begin();
    this.spent += units;
  }

  /** Whether the running work has to await `nextSlice`. */
  get isSliceOver(): boolean {
    if (!this.#isArmed) this.#begin();
    return this.spent - this.#start >= SLICE || this.#isClosed || this.#now() >= this.#endTime;
  }

  /** Resolves when the caller's next slice begins. Throws `ScheduleClosed`. */
  nextSlice(): Promise<void> {
    if (this.#isClosed) return Promise.reject(new ScheduleClosed());
    if (!this.#isArmed) this.#begin();
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  /** Ends all work that goes in slices, now and from now on. */
  close(): void {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.splice(0)) reject(new ScheduleClosed());
  }

  /** The first work of an iteration of the loop begins its slice; the check phase of the same iteration ends it. */
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
