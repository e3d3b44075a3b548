import { useState } from 'preact/hooks';
import { patch } from '../api/client.js';
import { Failure, Loading } from '../components/feedback.js';
import { useAction, useLoaded } from '../components/loaded.js';
import { useRepeated } from '../components/repeated.js';
import { writePlace } from '../place.js';
import { type Clock, readClock } from './clock-record.js';
import { showTime } from './clock-text.js';
import { Commands } from './command.js';

const SAYS: Readonly<Record<Clock['mode'], string>> = {
  real: 'It goes with the time of the machine.',
  frozen: 'It stands still until it is moved.',
  tick: 'It moves by one millisecond with each request.',
};

/** How far a click moves it: ISO 8601 durations. */
const STEPS = [
  ['PT1S', '1 s'],
  ['PT1M', '1 min'],
  ['PT1H', '1 h'],
  ['P1D', '1 day'],
] as const;

/** The time of the emulator, which tokens, states, quotas and deliveries go by. */
export function ClockPart() {
  const { value: clock, error: unloaded, reload } = useLoaded(readClock, []);
  const { run, isBusy, error } = useAction();
  const [duration, setDuration] = useState('PT30S');
  const [time, setTime] = useState('');
  useRepeated(reload, 1000);
  if (clock === undefined) return <Loading value={clock} error={unloaded} />;
  const change = (changes: object) => run(async () => patch('clock', changes).then(reload));
  const submit = (changes: object) => (event: Event) => {
    event.preventDefault();
    change(changes);
  };
  return (
    <>
      <p class={unloaded === undefined ? 'clock-face' : 'clock-face quiet'}>
        <time dateTime={clock.now}>{showTime(clock)}</time>
      </p>
      <Loading value={clock} error={unloaded} />
      {unloaded !== undefined && <p>This is the last time that the emulator told.</p>}
      <p>
        <strong>{clock.mode}</strong> <span class="quiet">{SAYS[clock.mode]}</span>
      </p>
      <div class="toolbar">
        {(['frozen', 'tick', 'real'] as const).map((mode) => (
          <button key={mode} type="button" disabled={isBusy || clock.mode === mode} onClick={() => change({ mode })}>
            {mode === 'frozen' ? 'Freeze' : mode === 'tick' ? 'Tick' : 'Back to real time'}
          </button>
        ))}
      </div>
      <h2>Move it on</h2>
      <div class="toolbar">
        {STEPS.map(([step, name]) => (
          <button key={step} type="button" disabled={isBusy} onClick={() => change({ advance: step })}>
            + {name}
          </button>
        ))}
      </div>
      <form class="fields" onSubmit={submit({ advance: duration.trim() })}>
        <label>
          By (ISO 8601, such as PT30S or P1DT2H)
          <input required value={duration} onInput={({ currentTarget }) => setDuration(currentTarget.value)} />
        </label>
        <button type="submit" disabled={isBusy}>
          Move on
        </button>
      </form>
      <p class="quiet">
        What becomes due by it has run when the new time is shown: thaws, syncs, deliveries, ends of states; tokens
        expire and quotas fill. <a href={writePlace('control', { part: 'webhooks' })}>Deliveries</a> and{' '}
        <a href={writePlace('repositories')}>repositories</a> show what came of it.
      </p>
      <h2>Set it</h2>
      <form class="fields" onSubmit={submit({ now: time.trim() })}>
        <label>
          To (such as 2026-01-01T00:00:00Z)
          <input required value={time} onInput={({ currentTarget }) => setTime(currentTarget.value)} />
        </label>
        <button type="submit" disabled={isBusy}>
          Set
        </button>
      </form>
      <Failure error={error} />
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
