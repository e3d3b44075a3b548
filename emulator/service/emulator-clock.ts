import type { ClockMode, WorldClock } from '../environment/clock.js';
import { parseDuration, parseTime } from '../environment/iso-8601.js';
import { problem } from '../http/problem.js';
import type { CurrentWorld } from '../world/current-world.js';

/** A time: ISO 8601, a `Date`, or milliseconds since 1970. */
export type Time = string | number | Date;

/** A duration: ISO 8601 such as `PT30S`, short such as `30s`, or milliseconds. */
export type Duration = string | number;

/** What the clock is to become: first the mode, then the time, then so much later. */
export interface ClockChanges {
  readonly mode?: ClockMode;
  readonly now?: Time;
  readonly advance?: Duration;
}

/**
 * The time of an emulator: of tokens, records, webhooks, states and answers. Time-outs of connections and delays that
 * were asked for keep to real time. Everything that cannot be read is refused with an `Error` that names it.
 */
export interface EmulatorClock {
  /** `real`: the machine's time. `frozen`: it stands. `tick`: it moves 1 ms with each request. */
  readonly mode: ClockMode;
  /** Milliseconds since 1970. */
  now(): number;
  /**
   * Moves the time on, and with it what waits for its time, such as the next attempt of a delivery: that runs in order of
   * time, and the promise resolves when it has. While nothing waits, the time has moved when the call returns.
   *
   * ```js
   * await using emulator = await startEmulator({ clock: '2026-01-01T00:00:00Z' });
   * await emulator.clock.advance('PT1H'); // tokens of an hour have expired
   * ```
   */
  advance(duration: Duration): Promise<void>;
  /** Stops the time, at what it is or at `time`. */
  freeze(time?: Time): Promise<void>;
  /** Moves 1 ms with each request from now on, or from `time`. */
  tick(time?: Time): Promise<void>;
  /** The machine's time again. */
  real(): Promise<void>;
  /** Sets the time; the mode stays. */
  set(time: Time): Promise<void>;
  /** All of it in one step. */
  change(changes: ClockChanges): Promise<void>;
}

const MODES: readonly string[] = ['real', 'frozen', 'tick'] satisfies ClockMode[];

export function clockOf(current: CurrentWorld): EmulatorClock {
  const clock = (): WorldClock => current.world.state.clock;
  const change = ({ mode, now, advance, ...others }: ClockChanges): Promise<void> => {
    for (const name of Object.keys(others)) throw mistake(`there is no member ${JSON.stringify(name)}`);
    if (mode !== undefined && !MODES.includes(mode)) throw mistake(`mode has to be one of ${MODES.join(', ')}`);
    const time = now === undefined ? undefined : readTime(now);
    const further = advance === undefined ? undefined : readDuration(advance);
    if (!isTime((time ?? clock().now()) + (further ?? 0))) throw mistake('advance leads past the last date there is');
    return clock().change({ mode, now: time, advance: further });
  };
  return {
    get mode() {
      return clock().reading.mode;
    },
    now: () => clock().now(),
    advance: (duration) => change({ advance: duration }),
    freeze: (time) => change({ mode: 'frozen', ...(time !== undefined && { now: time }) }),
    tick: (time) => change({ mode: 'tick', ...(time !== undefined && { now: time }) }),
    real: () => change({ mode: 'real' }),
    set: (time) => change({ now: time }),
    change,
  };
}

function readTime(given: Time): number {
  const time = typeof given === 'string' ? parseTime(given) : Number(given);
  if (time !== undefined && isTime(time)) return time;
  throw mistake('now has to be an ISO 8601 time such as 2026-01-01T00:00:00Z');
}

function readDuration(given: Duration): number {
  const duration = typeof given === 'string' ? parseDuration(given) : given;
  if (duration !== undefined && Number.isSafeInteger(duration) && duration >= 0) return duration;
  throw mistake('advance has to be a duration such as PT30S, or whole milliseconds');
}

/** ECMA-262, 21.4.1.1: what a date can hold. */
function isTime(time: number): boolean {
  return Number.isInteger(time) && Math.abs(time) <= 8.64e15;
}

function mistake(what: string) {
  return problem('bad_request', `The clock: ${what}.`);
}
