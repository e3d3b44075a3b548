import { Meter } from '../meter.js';
import { Schedule } from '../schedule.js';

/** Returns a meter without limit and abort signal. It has its own schedule. */
export function unlimited(): Meter {
  return new Meter({ schedule: new Schedule() });
}
