import { Meter } from '../meter.js';
import { Schedule } from '../schedule.js';

/** A meter of a schedule of its own, without limit and signal. */
export function unlimited(): Meter {
  return new Meter({ schedule: new Schedule() });
}
