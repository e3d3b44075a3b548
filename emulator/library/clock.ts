import { type ClockChanges, changeClock, type Duration, type Time } from '../changes/clock-changes.js';
import type { ClockMode, WorldClock } from '../time/clock.js';
import type { CurrentWorld } from '../world/current-world.js';

/**
 * The time of an emulator: of tokens, records, webhooks, states and answers. Time-outs of connections and delays that
 * were asked for keep to real time. Everything that cannot be read is refused with an `Error` that names it.
 *
 * ```js
 * const { clock } = emulator;
 * await clock.freeze('2026-01-01T00:00:00Z');
 * await clock.advance('PT90S');
 * assert.equal(clock.now(), Date.UTC(2026, 0, 1, 0, 1, 30));
 * await clock.tick(); // 1 ms a request, from here on
 * await clock.set(new Date(2027, 0, 1));
 * await clock.change({ mode: 'frozen', now: '2028-02-29T00:00:00Z', advance: '1h' });
 * await clock.real();
 * ```
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

/** @internal */
export function clockOf(current: CurrentWorld): EmulatorClock {
  const clock = (): WorldClock => current.world.state.clock;
  const change = (changes: ClockChanges): Promise<void> => changeClock(clock(), changes);
  return {
    get mode() {
      return clock().snapshot().mode;
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
