import type { ClockRecord } from '@emulator/admin/clock.js';
import type { FaultView } from '@emulator/admin/faults.js';
import type { ScenarioRecord } from '@emulator/admin/scenarios.js';
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { all, get } from './api/client.js';
import { followRequests, streamState } from './api/stream.js';
import { Given } from './components/given.js';
import { useLoaded } from './components/loaded.js';
import { count } from './components/time.js';
import { place, writePlace } from './place.js';

/** Section of the page that shows errors of requests. While it is open, no errors are counted. */
const LOOKED_AT = 'requests';

/** Filter for requests with an error status. */
const ERRORS = { status: '4xx,5xx' };

/** Number of requests with an error status since the user last looked at the requests. */
const newErrors = signal(0);

/**
 * Milliseconds between two requests that read the faults, the clock and the scenarios. They are also read after actions
 * of the user and after requests with errors. Other changes, such as by a command, cause no event.
 */
const PAUSE = 5_000;

/** Milliseconds between a request with an error and the request that reads the faults, clock and scenarios. */
const DELAY = 500;

/** Part of the header, with links to the sections that explain each value. It is visible in all sections. */
export function StatusBar() {
  const isLooking = place.value.section === LOOKED_AT;
  useEffect(() => {
    newErrors.value = 0;
    // The list of requests has its own event stream, which also reports the state of the connection.
    if (isLooking) return;
    const abort = new AbortController();
    followRequests({
      query: { ...ERRORS, bodies: false },
      after: async () => '',
      signal: abort.signal,
      onEvents: (events) => {
        newErrors.value += events.filter(({ name }) => name === 'request').length;
      },
      onState: () => {},
      // The emulator refuses the stream, for example because too many are open. Other parts of the page report this.
    }).catch(() => {});
    return () => abort.abort();
  }, [isLooking]);
  const { value, reload } = useLoaded(readStatus, [], PAUSE);
  const errors = newErrors.value;
  useEffect(() => {
    if (errors === 0) return;
    const timer = setTimeout(reload, DELAY);
    return () => clearTimeout(timer);
  }, [errors]);
  return (
    <ul class="status-bar figures" aria-label="State of the emulator">
      <Item to={writePlace('control', { part: 'about' })} title="Connection to the emulator">
        <span class={`beacon beacon-${streamState.value}`} aria-hidden="true" />
        {STATES[streamState.value]}
      </Item>
      <Item to={writePlace(LOOKED_AT, ERRORS)} isMarked={errors > 0} title="Errors since you last opened Requests">
        {count(errors)} new {errors === 1 ? 'error' : 'errors'}
      </Item>
      {value && (
        <>
          <Item to={writePlace('faults')} isMarked={value.faults > 0} title="Faults that can still fire">
            {count(value.faults)} armed {value.faults === 1 ? 'fault' : 'faults'}
          </Item>
          <ClockItem clock={value.clock} />
          {value.scenarios.map(({ id, steps, steps_done: done }) => (
            <Item key={id} to={writePlace('scenarios', { id })} isMarked>
              <Given text={id} most={40} />
              {steps > 0 && (done < steps ? `: step ${count(done + 1)} of ${count(steps)}` : ': all steps done')}
            </Item>
          ))}
        </>
      )}
    </ul>
  );
}

const STATES = { connecting: 'connecting', open: 'live', waiting: 'reconnecting' } as const;

async function readStatus(abort: AbortSignal) {
  const options = { signal: abort, query: { limit: 1000 } };
  const [faults, clock, scenarios] = await Promise.all([
    all<FaultView>('faults', options),
    get<ClockRecord>('clock', { signal: abort }),
    all<ScenarioRecord>('scenarios', options),
  ]);
  return {
    faults: faults.filter(({ source, enabled, remaining }) => source === 'registered' && enabled && remaining !== 0)
      .length,
    clock,
    scenarios: scenarios.filter(({ started }) => started),
  };
}

/** Minimum difference between the clock of the emulator and the clock of this machine that is shown, in milliseconds. */
const SHOWN_DIFFERENCE = 60_000;

/** Shows the clock of the emulator if it is not real: if it is stopped, or set to another time. */
function ClockItem({ clock: { mode, now } }: { readonly clock: ClockRecord }) {
  if (mode === 'real' && Math.abs(Date.parse(now) - Date.now()) < SHOWN_DIFFERENCE) return null;
  return (
    <Item to={writePlace('control', { part: 'clock' })} isMarked>
      clock {mode === 'real' ? 'set to' : mode} {now.slice(0, 19).replace('T', ' ')}
    </Item>
  );
}

interface ItemProps {
  readonly to: string;
  readonly title?: string;
  /** True if the value is unusual, and is therefore emphasized. */
  readonly isMarked?: boolean;
  readonly children: ComponentChildren;
}

function Item({ to, title, isMarked = false, children }: ItemProps) {
  return (
    <li>
      <a href={to} title={title} class={isMarked ? 'is-marked' : ''}>
        {children}
      </a>
    </li>
  );
}
