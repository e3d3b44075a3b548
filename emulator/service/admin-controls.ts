import type { AdminControls, ClockControl, StateControl } from '../admin/controls.js';
import type { CurrentWorld } from '../world/current-world.js';
import { clockOf } from './emulator-clock.js';
import { stateOf } from './emulator-state.js';

/** What the admin routes steer, over the same clock and state that the library has. */
export function controlsOf(current: CurrentWorld, others: Omit<AdminControls, 'clock' | 'state'>): AdminControls {
  return { clock: clockControl(current), state: stateControl(current), ...others };
}

function clockControl(current: CurrentWorld): ClockControl {
  const clock = clockOf(current);
  return {
    get mode() {
      return clock.mode;
    },
    now: () => clock.now(),
    change({ mode = clock.mode, now, advance = 0 }) {
      if (mode !== clock.mode) throw new Error(`mode: the clock is ${clock.mode}, and cannot be ${mode}.`);
      const step = advance + (now === undefined ? 0 : now - clock.now());
      if (step < 0) throw new Error('now: the clock does not go back.');
      if (step > 0) clock.advance(step);
    },
  };
}

function stateControl(current: CurrentWorld): StateControl {
  const state = stateOf(current, current.config.organizations[0]!.name);
  return {
    read: (scope) => ({ ...state.read(scope) }),
    change: (changes, scope) => state.change(changes, scope),
  };
}
