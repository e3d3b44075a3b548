/** The world's time, in whole milliseconds since 1970. Everything that shows or compares a time asks here. */
export interface Clock {
  now(): number;
  /** Called once per request, before anything else reads the time. */
  tick(): void;
  /** Runs `task` once, when the clock has come to `time`. The function returned calls it off. */
  at(time: number, task: () => void): () => void;
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
};

/** A clock that moves when it is told to. */
export interface SteppingClock extends Clock {
  /** Moves it on and runs what has become due, in order of time. */
  advance(milliseconds: number): void;
}

/** A clock that starts at `start` and moves only by 1 ms a request, so that two runs see the same times. */
export function steppingClock(start: number): SteppingClock {
  let now = start;
  const waiting = new Set<{ readonly time: number; readonly task: () => void }>();
  const advance = (milliseconds: number) => {
    now += milliseconds;
    if (waiting.size === 0) return;
    const due = [...waiting].filter(({ time }) => time <= now).sort((a, b) => a.time - b.time);
    for (const entry of due) if (waiting.delete(entry)) entry.task();
  };
  return {
    now: () => now,
    tick: () => advance(1),
    advance,
    at(time, task) {
      const entry = { time, task };
      waiting.add(entry);
      return () => waiting.delete(entry);
    },
  };
}
