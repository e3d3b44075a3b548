import { createHash } from 'node:crypto';

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

/**
 * Ids from the seed: the n-th id of a kind is the same in every run, whatever other kinds were made
 * in between.
 */
export class Ids {
  readonly #counts = new Map<string, number>();

  constructor(readonly seed: string) {}

  /** A UUID-shaped id (RFC 9562 version 8: custom). */
  uuid(kind: string): string {
    const hex = this.digest(kind);
    const variant = ((Number.parseInt(hex[16]!, 16) & 0x3) | 0x8).toString(16);
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  }

  /** `prefix_` and 24 hexadecimal digits. */
  prefixed(kind: string, prefix: string): string {
    return `${prefix}_${this.digest(kind).slice(0, 24)}`;
  }

  private digest(kind: string): string {
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    return createHash('sha256').update(`${this.seed}\0${kind}\0${count}`).digest('hex');
  }

  /** A secret that only the seed determines, for signing what leaves and comes back (cursors). */
  secret(purpose: string): Buffer {
    return createHash('sha256').update(`${this.seed}\0secret\0${purpose}`).digest();
  }
}

/** One structured line of the log: never a header, a token or a body. */
export interface LogLine {
  readonly event: string;
  readonly [member: string]: unknown;
}

export interface Log {
  write(line: LogLine): void;
}

export const silentLog: Log = { write() {} };
