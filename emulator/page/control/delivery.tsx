import type { DeliveryRecord } from '@emulator/admin/delivery-record.js';
import { useState } from 'preact/hooks';
import { patch, post, route } from '../api/client.js';
import { ActionButton } from '../components/action.js';
import { Given, GivenBlock } from '../components/given.js';
import { useLoaded } from '../components/loaded.js';
import { ownValue } from '../components/own-value.js';
import { DateTime } from '../components/time.js';
import { readClock } from './clock.js';

const COLOURS: Readonly<Record<string, string>> = { delivered: 'passed', failed: 'failed' };

/**
 * Delivery of an event to a webhook. It can be opened to show its attempts, its payload, and a button that sends the
 * event again.
 */
export function DeliveryCard({ delivery }: { readonly delivery: DeliveryRecord }) {
  const { id, state, event, organization, url, attempts, next_attempt_at: next, resend_of: first } = delivery;
  const [isOpen, setOpen] = useState(false);
  const last = attempts.at(-1);
  return (
    <details class="card" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <strong class={ownValue(COLOURS, state)}>{state}</strong> {event} of <Given text={organization} /> to{' '}
        <Given text={url} />{' '}
        <span class="quiet">
          {first !== undefined && 'resend, '}
          {attempts.length === 1 ? '1 attempt' : `${attempts.length} attempts`}
          {last !== undefined && `, the last ${last.status ?? 'without a response'}`}
          {next !== null && (
            <>
              , next at <DateTime at={next} />
            </>
          )}
        </span>
      </summary>
      {isOpen && (
        <>
          <p class="quiet">
            Delivery <code>{id}</code>
            {first !== undefined && (
              <>
                , which sends the event of <code>{first}</code> again
              </>
            )}
          </p>
          <Attempts delivery={delivery} />
          {state !== 'pending' && (
            <p>
              <ActionButton
                class="small"
                title="Send the event again, as a new delivery with the same payload"
                act={() => post(route`webhooks/outbox/${id}/resend`)}
              >
                Resend
              </ActionButton>
            </p>
          )}
          <GivenBlock text={JSON.stringify(delivery.payload, undefined, 2)} />
        </>
      )}
    </details>
  );
}

function Attempts({ delivery: { attempts, next_attempt_at: next } }: { readonly delivery: DeliveryRecord }) {
  return (
    <ul>
      {attempts.map(({ at, status, error }, index) => (
        <li key={index}>
          <DateTime at={at} /> {status ?? <Given text={error ?? 'no response'} />}
        </li>
      ))}
      {next !== null && (
        <li>
          next try at <DateTime at={next} /> <MoveClock to={next} />
        </li>
      )}
    </ul>
  );
}

/**
 * Button that advances the emulator's clock to the next attempt of a webhook delivery. There is no button if the clock
 * follows real time, because the attempt then happens without the user.
 */
function MoveClock({ to }: { readonly to: string }) {
  const { value: clock } = useLoaded(readClock, []);
  if (clock === undefined || clock.mode === 'real') return null;
  return (
    <ActionButton class="small" act={() => patch('clock', { now: to })}>
      Advance the clock to this time
    </ActionButton>
  );
}
