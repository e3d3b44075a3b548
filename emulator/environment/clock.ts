/** The world's time, in whole milliseconds since 1970. Everything that shows or compares a time asks here. */
export interface Clock {
  now(): number;
  /** Called once per request, before anything else reads the time. */
  tick(): void;
  /** Runs `task` once, when the clock has come to `time`. The function returned calls it off. */
  at(time: number, task: () => void): () => void;
  /** Moves the clock on and runs what has become due, in order of time. Throws where the time is the machine's. */
  advance(milliseconds: number): void;
  /** The time to go back to; undefined where it is the machine's. */
  snapshot(): number | undefined;
  restore(time: number | undefined): void;
}

const LONGEST_TIMER = 2 ** 31 - 1;

/** The machine's time. What waits for it does not keep the process alive. */
export const realClock: Clock = {
  now: () => Date.now(),
  tick() {},
  at(time, task) {
    const timer = setTimeout(task, Math.min(Math.max(time - Date.now(), 0), LONGEST_TIMER));
    timer.unref();
    return () => clearTimeout(timer);
  },
  advance() {
    throw new Error('The time is that of the machine and cannot be moved; start with a time of its own.');
  },
  snapshot: () => undefined,
  restore() {},
};

interface Waiting {
  readonly time: number;
  readonly task: () => void;
}

/** A clock that moves only by 1 ms a request, and when it is told to, so that two runs see the same times. */
export class SteppingClock implements Clock {
  /** What is to run later. A part that waits for it asks anew after a restore. */
  private readonly waiting = new Set<Waiting>();

  constructor(private time: number) {}

  now(): number {
    return this.time;
  }

  tick(): void {
    this.advance(1);
  }

  at(time: number, task: () => void): () => void {
    const entry = { time, task };
    this.waiting.add(entry);
    return () => this.waiting.delete(entry);
  }

  advance(milliseconds: number): void {
    this.time += milliseconds;
    if (this.waiting.size === 0) return;
    const due = [...this.waiting].filter(({ time }) => time <= this.time).sort((a, b) => a.time - b.time);
    for (const entry of due) if (this.waiting.delete(entry)) entry.task();
  }

  snapshot(): number {
    return this.time;
  }

  restore(time: number): void {
    this.time = time;
  }
}
