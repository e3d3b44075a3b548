/**
 * Modes of the emulator's clock. `real`: follows the system time. `frozen`: shows a fixed time. `tick`: advances by 1
 * ms with each request.
 */
export const CLOCK_MODES = ['real', 'frozen', 'tick'] as const;
export type ClockMode = (typeof CLOCK_MODES)[number];

/**
 * Clock of the emulator, in whole milliseconds since 1970. All code that shows or compares times uses it, so that tests
 * can set the time.
 */
export interface Clock {
  now(): number;
  /**
   * Runs `task` once, when the clock reaches `time`. If the task returns a promise, the clock does not move further
   * until the promise is settled. Returns a function that cancels the task.
   */
  at(time: number, task: Task): () => void;
}

/** Function that runs when the clock reaches a time. If it returns a promise, a move of the clock waits for it. */
type Task = () => void | Promise<void>;

interface Waiting {
  readonly time: number;
  readonly task: Task;
}

/** Change of a clock by a test. First the mode is set, then the time, and then the clock is advanced. */
export interface ClockChange {
  readonly mode?: ClockMode | undefined;
  readonly now?: number | undefined;
  /** Duration by which the clock is advanced, in milliseconds; at least 0. */
  readonly advance?: number | undefined;
}

/**
 * State of a clock in a snapshot. `time`: current time of a clock that does not follow the system time. `ahead`:
 * milliseconds by which a `real` clock is ahead of the system time.
 */
export interface ClockReading {
  readonly mode: ClockMode;
  readonly time: number;
  readonly ahead: number;
}

const LONGEST_TIMER = 2 ** 31 - 1;

/** Clock of a world (state of one emulated service). Its timers do not keep the process alive. @internal */
export class WorldClock implements Clock {
  private mode: ClockMode;
  private time: number;
  private ahead = 0;
  /**
   * Tasks that are scheduled and have not run yet. A snapshot does not contain them. After a restore, the code that
   * scheduled them schedules them again.
   */
  private readonly waiting = new Set<Waiting>();
  private timer: NodeJS.Timeout | undefined = undefined;
  /** Promise of the last queued move of the clock, which waits for a task; undefined if no move is waiting. */
  private moving: Promise<void> | undefined = undefined;

  /**
   * Creates a clock that follows the system time (`real`), or one in the mode `tick` that starts at the time `start`,
   * in milliseconds since 1970. `machine` returns the system time.
   */
  constructor(
    start: 'real' | number,
    private readonly machine: () => number = Date.now,
  ) {
    this.mode = start === 'real' ? 'real' : 'tick';
    this.time = start === 'real' ? 0 : start;
  }

  now(): number {
    return this.mode === 'real' ? this.machine() + this.ahead : this.time;
  }

  /** True if the clock shows the system time unchanged. */
  get isMachine(): boolean {
    return this.mode === 'real' && this.ahead === 0;
  }

  /** Advances the clock by 1 ms if its mode is `tick`. Called once per request, before anything else reads the time. */
  tick(): void {
    if (this.mode !== 'tick') return;
    this.time += 1;
    if (this.waiting.size > 0) this.wake();
  }

  at(time: number, task: Task): () => void {
    const entry = { time, task };
    this.waiting.add(entry);
    this.arm();
    return () => {
      this.waiting.delete(entry);
      this.arm();
    };
  }

  /**
   * Changes the clock. Tasks that become due run in the order of their times. While a task runs, the clock shows the
   * time for which the task was scheduled. The promise resolves when all these tasks have ended.
   */
  change({ mode, now, advance }: ClockChange): Promise<void> {
    if (mode !== undefined) {
      this.time = this.now();
      this.ahead = 0;
      this.mode = mode;
    }
    if (now !== undefined) {
      if (this.mode === 'real') this.ahead = now - this.machine();
      else this.time = now;
    }
    return this.advance(advance ?? 0);
  }

  /**
   * Advances the clock. It has moved when the call returns, unless a task returns a promise. In that case it has moved
   * when the returned promise resolves.
   */
  advance(milliseconds: number): Promise<void> {
    // Moves are queued, because a task of an earlier move may still be waiting and may read the time.
    if (this.moving) return this.queue(() => this.moveTo(this.now() + milliseconds));
    const rest = this.moveTo(this.now() + milliseconds);
    return rest ? this.queue(() => rest) : Promise.resolve();
  }

  snapshot(): ClockReading {
    const { mode, time, ahead } = this;
    return { mode, time, ahead };
  }

  restore({ mode, time, ahead }: ClockReading): void {
    this.mode = mode;
    this.time = time;
    this.ahead = ahead;
    this.arm();
  }

  private queue(next: () => Promise<void> | undefined): Promise<void> {
    const moving = (this.moving ?? Promise.resolve()).then(next).finally(() => {
      if (this.moving === moving) this.moving = undefined;
    });
    this.moving = moving;
    return moving;
  }

  /**
   * Moves the clock to the time `target` and runs all tasks up to this time. Returns undefined if the move is complete,
   * otherwise a promise that resolves when it is.
   */
  private moveTo(target: number): Promise<void> | undefined {
    for (let next = this.firstUntil(target); next !== undefined; next = this.firstUntil(target)) {
      this.waiting.delete(next);
      this.show(Math.max(this.now(), next.time));
      const running = next.task();
      if (running) return running.then(() => this.moveTo(target));
    }
    this.show(Math.max(this.now(), target));
    this.arm();
    return undefined;
  }

  private show(time: number): void {
    if (this.mode !== 'real') this.time = time;
    else if (time > this.now()) this.ahead += time - this.now();
  }

  private firstUntil(target: number): Waiting | undefined {
    let first: Waiting | undefined;
    for (const entry of this.waiting) {
      if (entry.time <= target && (first === undefined || entry.time < first.time)) first = entry;
    }
    return first;
  }

  /** Runs all tasks that are due, without waiting for the promises that they return. */
  private wake(): void {
    for (let next = this.firstUntil(this.now()); next !== undefined; next = this.firstUntil(this.now())) {
      this.waiting.delete(next);
      void next.task();
    }
    this.arm();
  }

  /**
   * Sets a system timer for the next task if the mode of the clock is `real`. In other modes, tasks run only when the
   * clock is changed or ticks.
   */
  private arm(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.mode !== 'real' || this.waiting.size === 0) return;
    const next = this.firstUntil(Number.POSITIVE_INFINITY)!;
    const pause = Math.min(Math.max(next.time - this.now(), 0), LONGEST_TIMER);
    this.timer = setTimeout(() => this.wake(), pause);
    this.timer.unref();
  }
}
