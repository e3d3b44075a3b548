import type { ClockRecord } from '@emulator/admin/clock.js';
import { useState } from 'preact/hooks';
import { get, patch } from '../api/client.js';
import { Form } from '../components/action.js';
import { TextField } from '../components/fields.js';
import { useManaged } from '../components/loaded.js';
import { writePlace } from '../place.js';
import { showTime } from './clock-text.js';
import { Commands } from './command.js';

const MODES: Readonly<Record<ClockRecord['mode'], { readonly about: string; readonly action: string }>> = {
  frozen: { about: 'The clock is frozen until you advance it.', action: 'Freeze' },
  tick: { about: 'The clock advances by one millisecond with each request.', action: 'Advance with requests' },
  real: { about: 'The clock shows the time of the machine on which the emulator runs.', action: 'Use real time' },
};

/** Durations (ISO 8601) by which a click advances the clock, with their labels. */
const STEPS = [
  ['PT1S', '1 s'],
  ['PT1M', '1 min'],
  ['PT1H', '1 h'],
  ['P1D', '1 day'],
] as const;

/**
 * Part of the emulator's web page that shows and sets the emulator's clock. The clock affects the lifetime of tokens,
 * the duration of states, the refill of quotas and the times of webhook deliveries.
 */
export function ClockPart() {
  const { value: clock, error: unloaded, change, notice } = useManaged(readClock, 1000);
  const [duration, setDuration] = useState('PT30S');
  const [time, setTime] = useState('');
  if (clock === undefined) return notice;
  const set = (changes: object) => change(() => patch('clock', changes));
  return (
    <>
      <p class={unloaded === undefined ? 'clock-face' : 'clock-face quiet'}>
        <time dateTime={clock.now}>{showTime(clock)}</time>
      </p>
      {notice}
      {unloaded !== undefined && <p>This is the last time received from the emulator.</p>}
      <p>
        <strong>{clock.mode}</strong> <span class="quiet">{MODES[clock.mode].about}</span>
      </p>
      <div class="toolbar">
        {Object.entries(MODES).map(([mode, { action }]) => (
          <button key={mode} type="button" disabled={clock.mode === mode} onClick={() => set({ mode })}>
            {action}
          </button>
        ))}
      </div>
      <h2>Advance the clock</h2>
      <div class="toolbar">
        {STEPS.map(([step, name]) => (
          <button key={step} type="button" onClick={() => set({ advance: step })}>
            + {name}
          </button>
        ))}
      </div>
      <Form class="fields" submit="Advance" act={() => set({ advance: duration.trim() })}>
        <TextField
          required
          label="Duration (ISO 8601, such as PT30S or P1DT2H)"
          value={duration}
          onChange={setDuration}
        />
      </Form>
      <p class="quiet">
        When the new time is shown, everything that was due by then has happened: states have ended and webhooks have
        been delivered. Tokens expire and quotas refill. See{' '}
        <a href={writePlace('control', { part: 'webhooks' })}>webhooks</a> and{' '}
        <a href={writePlace('repositories')}>repositories</a>.
      </p>
      <h2>Set the clock</h2>
      <Form class="fields" submit="Set the clock" act={() => set({ now: time.trim() })}>
        <TextField required label="Time (such as 2026-01-01T00:00:00Z)" value={time} onChange={setTime} />
      </Form>
      <Commands
        lines={[
          ['clock', 'freeze'],
          ['clock', 'advance', duration.trim() || 'PT30S'],
          ['clock', 'set', time.trim() || '2026-01-01T00:00:00Z'],
          ['clock', 'real'],
        ]}
      />
    </>
  );
}

export const readClock = (signal: AbortSignal): Promise<ClockRecord> => get<ClockRecord>('clock', { signal });
