import { Meter } from '../meter.js';
import { Schedule } from '../schedule.js';

/** Returns a meter with its own schedule, and without a limit or a signal. */
export function unlimited(): Meter {
  return new Meter({ schedule: new Schedule() });
}
