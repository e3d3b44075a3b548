import { type ClockChanges, changeClock, type Duration, type Time } from '../changes/clock-changes.js';
import type { ClockMode, WorldClock } from '../time/clock.js';
import type { CurrentWorld } from '../world/current-world.js';

/**
 * Clock of an emulator. Tokens, records, webhooks, states and responses use its time. Connection timeouts and injected
 * delays use real time. Methods throw an `Error` that names the invalid argument.
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
  /** `real`: time of the machine. `frozen`: the time does not move. `tick`: it moves by 1 ms with each request. */
  readonly mode: ClockMode;
  /** Returns the time of the emulator's clock in milliseconds since 1970. */
  now(): number;
  /**
   * Advances the time and runs everything that becomes due, such as the next attempt of a delivery, in order of time.
   * The promise resolves when that work is done. If nothing is due, the time has already moved when the call returns.
   *
   * ```js
   * await using emulator = await startEmulator({ clock: '2026-01-01T00:00:00Z' });
   * await emulator.clock.advance('PT1H'); // one-hour tokens have expired
   * ```
   */
  advance(duration: Duration): Promise<void>;
  /** Freezes the time at its current value, or at `time`. */
  freeze(time?: Time): Promise<void>;
  /** Moves the time by 1 ms with each request, starting at its current value or at `time`. */
  tick(time?: Time): Promise<void>;
  /** Makes the clock show the time of the machine from now on. */
  real(): Promise<void>;
  /** Sets the time of the clock. The clock keeps its mode (`real`, `frozen` or `tick`). */
  set(time: Time): Promise<void>;
  /** Applies several changes of time and mode in one step. */
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
