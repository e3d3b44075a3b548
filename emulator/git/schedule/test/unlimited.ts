import { Meter } from '../meter.js';
import { Schedule } from '../schedule.js';

/** A meter that nobody else shares and that ends nothing. */
export function unlimited(): Meter {
  return new Meter({ schedule: new Schedule() });
}
