/** `real`: the machine's time. `frozen`: a fixed time. `tick`: advances by 1 ms with each request. */
export const CLOCK_MODES = ['real', 'frozen', 'tick'] as const;
export type ClockMode = (typeof CLOCK_MODES)[number];

/** Time of the world in whole milliseconds since 1970. All code that shows or compares times uses it. */
export interface Clock {
  now(): number;
  /**
   * Runs `task` once, when the clock reaches `time`. The clock waits for a promise that the task returns. Returns a
   * function that cancels the task.
   */
  at(time: number, task: Task): () => void;
}

/** Task of a clock. A clock that is moved waits for the promise, if there is one. */
type Task = () => void | Promise<void>;

interface Waiting {
  readonly time: number;
  readonly task: Task;
}

/** Change of a clock: its mode, then its time, then a duration to advance. */
export interface ClockChange {
  readonly mode?: ClockMode | undefined;
  readonly now?: number | undefined;
  /** Milliseconds, at least 0. */
  readonly advance?: number | undefined;
}

/**
 * `time`: current time of a clock that does not follow the machine. `ahead`: milliseconds by which a real clock is ahead of the machine.
 */
export interface ClockReading {
  readonly mode: ClockMode;
  readonly time: number;
  readonly ahead: number;
}

const LONGEST_TIMER = 2 ** 31 - 1;

/** Clock of a world. Its timers do not keep the process alive. @internal */
export class WorldClock implements Clock {
  private mode: ClockMode;
  private time: number;
  private ahead = 0;
  /** Tasks that are scheduled. After a restore, their owners schedule them again. */
  private readonly waiting = new Set<Waiting>();
  private timer: NodeJS.Timeout | undefined = undefined;
  /** Last move that waits for a task; undefined if none does. */
  private moving: Promise<void> | undefined = undefined;

  /** `start`: the machine's time, or the initial time of a ticking clock. */
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

  /** True if the clock shows the machine's time. */
  get isMachine(): boolean {
    return this.mode === 'real' && this.ahead === 0;
  }

  /** Advances a ticking clock. Called once per request, before anything else reads the time. */
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
   * Changes the clock. Tasks that become due run in order of their time, and the clock shows that time while they run.
   * The promise resolves when all of them have ended.
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

  /** Advances the clock. If no task waits for a promise, the clock has moved when the call returns. */
  advance(milliseconds: number): Promise<void> {
    // Moves run one after the other, because a task of the first may read the time.
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

  /** Returns undefined if the move is complete without waiting. */
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

  /** Runs the tasks that are due, each on its own. */
  private wake(): void {
    for (let next = this.firstUntil(this.now()); next !== undefined; next = this.firstUntil(this.now())) {
      this.waiting.delete(next);
      void next.task();
    }
    this.arm();
  }

  /** Sets a machine timer for the next task of a real clock. */
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
