import { z } from 'zod';
import { changeClock as applyClockChanges } from '../changes/clock-changes.js';
import { json } from '../http/reply.js';
import { CLOCK_MODES } from '../time/clock.js';
import { isoTime, parseDuration, parseTime } from '../time/iso-8601.js';
import type { World } from '../world/world.js';
import { adminRoute } from './route.js';

const clockRecord = z.object({ mode: z.enum(CLOCK_MODES), now: z.iso.datetime() });

export type ClockRecord = z.infer<typeof clockRecord>;

function readClock({ state: { clock } }: World): ClockRecord {
  return { mode: clock.snapshot().mode, now: isoTime(clock.now()) };
}

export const showClock = adminRoute({
  path: '/clock',
  summary: 'Show the time of the emulator, and the mode of its clock',
  replies: { 200: clockRecord },
  handle: ({ world }) => json(200, readClock(world)),
});

const moment = z
  .string()
  .refine((text) => parseTime(text) !== undefined, 'must be an ISO 8601 time such as 2026-01-01T00:00:00Z');
const duration = z
  .string()
  .refine((text) => parseDuration(text) !== undefined, 'must be an ISO 8601 duration such as PT30S or P1DT2H');

export const changeClock = adminRoute({
  method: 'PATCH',
  path: '/clock',
  summary:
    'Set or advance the time, or change the mode of the clock; everything that becomes due runs before the response',
  body: z.strictObject({
    mode: z.enum(CLOCK_MODES, `must be one of ${CLOCK_MODES.join(', ')}`).optional(),
    now: moment.optional(),
    advance: duration.optional(),
  }),
  replies: { 200: clockRecord },
  handle: async ({ world, body }) => {
    await applyClockChanges(world.state.clock, body);
    return json(200, readClock(world));
  },
});
