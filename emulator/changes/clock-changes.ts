import { problem } from '../http/problem.js';
import { CLOCK_MODES, type ClockMode, type WorldClock } from '../time/clock.js';
import { parseDuration, parseTime } from '../time/iso-8601.js';

/** Time in one of three forms: ISO 8601, a `Date`, or milliseconds since 1970. */
export type Time = string | number | Date;

/** Duration in one of three forms: ISO 8601 such as `PT30S`, short such as `30s`, or milliseconds. */
export type Duration = string | number;

/**
 * Change of the clock of an emulated service. The mode is set first, then the time; then the clock advances by the
 * duration.
 */
export interface ClockChanges {
  readonly mode?: ClockMode | undefined;
  readonly now?: Time | undefined;
  readonly advance?: Duration | undefined;
}

/**
 * Changes the clock of an emulated service. The promise resolves when all tasks that became due through the change have
 * run. If a member is invalid, throws `bad_request` with its name and changes nothing. @internal
 */
export function changeClock(clock: WorldClock, { mode, now, advance, ...others }: ClockChanges): Promise<void> {
  for (const name of Object.keys(others)) throw mistake(`unknown member ${JSON.stringify(name)}`);
  if (mode !== undefined && !CLOCK_MODES.includes(mode)) {
    throw mistake(`mode must be one of ${CLOCK_MODES.join(', ')}`);
  }
  const time = now === undefined ? undefined : readTime(now);
  const further = advance === undefined ? undefined : readDuration(advance);
  if (!isTime((time ?? clock.now()) + (further ?? 0)))
    throw mistake('advance leads past the last supported date, in the year 275760');
  return clock.change({ mode, now: time, advance: further });
}

function readTime(given: Time): number {
  const time = typeof given === 'string' ? parseTime(given) : Number(given);
  if (time !== undefined && isTime(time)) return time;
  throw mistake('now must be an ISO 8601 time such as 2026-01-01T00:00:00Z');
}

function readDuration(given: Duration): number {
  const duration = typeof given === 'string' ? parseDuration(given) : given;
  if (duration !== undefined && Number.isSafeInteger(duration) && duration >= 0) return duration;
  throw mistake('advance must be a duration such as PT30S, or whole milliseconds');
}

/** Returns true if a time in milliseconds is an integer in the range of a JavaScript date (ECMA-262, 21.4.1.1). */
function isTime(time: number): boolean {
  return Number.isInteger(time) && Math.abs(time) <= 8.64e15;
}

function mistake(what: string) {
  return problem('bad_request', `The clock: ${what}.`);
}
