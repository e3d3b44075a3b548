import { type ClockChanges, changeClock, type Duration, type Time } from '../changes/clock-changes.js';
import type { ClockMode, WorldClock } from '../time/clock.js';
import type { CurrentWorld } from '../world/current-world.js';

/**
 * Clock of an emulator. It provides the times of tokens, records, webhooks, simulated states and responses. Timeouts of
 * connections and delays injected by faults use real time instead. Methods throw an `Error` that names the invalid
 * argument.
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
  /**
   * Mode of the clock:
   *
   * - `real`: the clock shows the time of the machine
   * - `frozen`: the time does not move
   * - `tick`: the time advances by 1 ms with each request
   */
  readonly mode: ClockMode;
  /** Returns the time of the emulator's clock in milliseconds since 1970. */
  now(): number;
  /**
   * Advances the time by `duration`. Everything that becomes due is executed in order of time, such as the next
   * delivery attempt of a webhook. The promise resolves when this work is done. If nothing becomes due, the clock
   * already shows the new time when the method returns.
   *
   * ```js
   * await using emulator = await startEmulator({ clock: '2026-01-01T00:00:00Z' });
   * await emulator.clock.advance('PT1H'); // one-hour tokens have expired
   * ```
   */
  advance(duration: Duration): Promise<void>;
  /**
   * Stops the clock at its current time, or at `time` if given. Neither requests nor real time advance it afterwards.
   */
  freeze(time?: Time): Promise<void>;
  /**
   * Sets the mode `tick`, in which the time advances by 1 ms with each request. The clock starts at its current time,
   * or at `time` if given.
   */
  tick(time?: Time): Promise<void>;
  /** Makes the clock show the time of the machine from now on. */
  real(): Promise<void>;
  /** Sets the time of the clock. The mode (`real`, `frozen` or `tick`) does not change. */
  set(time: Time): Promise<void>;
  /** Changes the time and the mode of the clock in one step. */
  change(changes: ClockChanges): Promise<void>;
}

/**
 * Returns the public clock of an emulator. The clock always controls the emulator's current world (state of the
 * service). @internal
 */
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
