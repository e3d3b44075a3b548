import type { CurrentWorld } from '../world/current-world.js';

/** The time of an emulator: of tokens, records, webhooks and answers. Time-outs of connections keep to real time. */
export interface EmulatorClock {
  /** `real`: the machine's time. `tick`: it starts where the option `clock` says, and moves 1 ms with each request. */
  readonly mode: 'real' | 'tick';
  /** Milliseconds since 1970. */
  now(): number;
  /**
   * Moves the time on by so many milliseconds, and with it what waits for its time, such as the next attempt of a
   * delivery. Throws an `Error` in mode `real`, and a `RangeError` unless `milliseconds` is a whole number of at least 0.
   *
   * ```js
   * await using emulator = await startEmulator({ clock: '2026-01-01T00:00:00Z' });
   * emulator.clock.advance(3_600_000); // tokens of an hour have expired
   * ```
   */
  advance(milliseconds: number): void;
}

export function clockOf(current: CurrentWorld): EmulatorClock {
  return {
    mode: current.config.clock === 'real' ? 'real' : 'tick',
    now: () => current.world.state.clock.now(),
    advance(milliseconds) {
      if (!Number.isSafeInteger(milliseconds) || milliseconds < 0) {
        throw new RangeError('A clock is moved on by a whole number of milliseconds.');
      }
      current.world.state.clock.advance(milliseconds);
    },
  };
}
