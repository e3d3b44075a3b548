import { z } from 'zod';
import { readDuration, readIsoTime } from '../config/iso-time.js';
import { json } from '../http/reply.js';
import { CLOCK_MODES, type ClockControl, refusing } from './controls.js';
import { adminRoute } from './route.js';

const clockRecord = z.object({ mode: z.enum(CLOCK_MODES), now: z.iso.datetime() });

function showClock(clock: ClockControl): z.infer<typeof clockRecord> {
  return { mode: clock.mode, now: new Date(clock.now()).toISOString() };
}

export const showClockRoute = adminRoute({
  id: 'showClock',
  method: 'GET',
  path: '/clock',
  summary: 'Show the time of the emulator, and what moves it',
  access: 'token',
  replies: { 200: clockRecord },
  handle: ({ controls }) => json(200, showClock(controls.clock)),
});

const time = z.string().transform((text, ctx) => {
  const read = readIsoTime(text);
  if (read !== undefined) return read;
  ctx.addIssue({ code: 'custom', message: 'has to be an ISO 8601 time such as 2026-01-01T00:00:00Z' });
  return z.NEVER;
});

const duration = z.string().transform((text, ctx) => {
  const read = readDuration(text);
  if (read !== undefined) return read;
  ctx.addIssue({ code: 'custom', message: 'has to be an ISO 8601 duration such as PT30S or P1DT2H' });
  return z.NEVER;
});

export const changeClock = adminRoute({
  id: 'changeClock',
  method: 'PATCH',
  path: '/clock',
  summary: 'Set the time, move it on, or change what moves it; what becomes due has run before the answer',
  access: 'token',
  body: z.strictObject({
    mode: z.enum(CLOCK_MODES, `has to be one of ${CLOCK_MODES.join(', ')}`).optional(),
    now: time.optional(),
    advance: duration.optional(),
  }),
  replies: { 200: clockRecord },
  handle: async ({ controls: { clock }, body }) => {
    await refusing(() => clock.change(body));
    return json(200, showClock(clock));
  },
});
