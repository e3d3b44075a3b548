/** `real`: the machine's time. `frozen`: it stands. `tick`: it moves 1 ms with each request. */
export const CLOCK_MODES = ['real', 'frozen', 'tick'] as const;
export type ClockMode = (typeof CLOCK_MODES)[number];

/** The world's time, in whole milliseconds since 1970. Everything that shows or compares a time asks here. */
export interface Clock {
  now(): number;
  /** Runs `task` once, when the clock has come to `time`; a promise is waited for before the clock moves on. Returns what calls it off. */
  at(time: number, task: Task): () => void;
}

/** A clock that is told to move waits for the promise, if there is one. */
type Task = () => void | Promise<void>;

interface Waiting {
  readonly time: number;
  readonly task: Task;
}

/** What a clock is told to become: first the mode, then the time, then so much later. */
export interface ClockChange {
  readonly mode?: ClockMode | undefined;
  readonly now?: number | undefined;
  /** Milliseconds, at least 0. */
  readonly advance?: number | undefined;
}

/** `time`: where a clock that does not follow the machine stands. `ahead`: how far before the machine's it is. */
export interface ClockReading {
  readonly mode: ClockMode;
  readonly time: number;
  readonly ahead: number;
}

const LONGEST_TIMER = 2 ** 31 - 1;

/** The clock of a world. What waits for it in real time does not keep the process alive. @internal */
export class WorldClock implements Clock {
  private mode: ClockMode;
  private time: number;
  private ahead = 0;
  /** What is to run later. A part that waits for it asks anew after a restore. */
  private readonly waiting = new Set<Waiting>();
  private timer: NodeJS.Timeout | undefined = undefined;
  /** The last move that waits for something; undefined when none is under way. */
  private moving: Promise<void> | undefined = undefined;

  /** `start`: the machine's time, or where a ticking clock begins. */
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

  /** Whether it shows what the machine's shows. */
  get isMachine(): boolean {
    return this.mode === 'real' && this.ahead === 0;
  }

  /** Called once per request, before anything else reads the time. */
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
   * Changes it in one step. What becomes due runs in order of time, and the clock shows that time while it runs; the
   * promise resolves when all of it has.
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

  /** Moves the clock on. While nothing waits for it this is done when the call returns. */
  advance(milliseconds: number): Promise<void> {
    // One after the other: what the first one runs may come to depend on the time.
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

  /** Returns undefined when it is done already. */
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

  /** Runs what is due, each for itself. */
  private wake(): void {
    for (let next = this.firstUntil(this.now()); next !== undefined; next = this.firstUntil(this.now())) {
      this.waiting.delete(next);
      void next.task();
    }
    this.arm();
  }

  /** In real time a timer of the machine tells when the next one is due. */
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
