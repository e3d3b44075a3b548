import type { DeliveryRecord, WebhookRecord } from '@emulator/admin/outbox.js';
import { useState } from 'preact/hooks';
import { readAddresses } from '../api/addresses.js';
import { all, patch } from '../api/client.js';
import { ActionButton } from '../components/action.js';
import { Copy } from '../components/copy.js';
import { Given, GivenBlock } from '../components/given.js';
import { useMore } from '../components/lists.js';
import { Failure, Loading, useLoaded } from '../components/loaded.js';
import { ownValue } from '../components/own-value.js';
import { Table } from '../components/table.js';
import { DateTime } from '../components/time.js';
import { readClock } from './clock.js';
import { Commands, emulatorLine } from './command.js';

const COLOURS: Readonly<Record<string, string>> = { delivered: 'passed', failed: 'failed' };

/** Number of webhook deliveries that are shown at first. Each click on the button below them adds this number. */
const STEP = 50;

/** Reads the webhooks and deliveries of all organizations. The newest deliveries are first. */
async function readAll(signal: AbortSignal) {
  const hooks: (WebhookRecord & { readonly organization: string })[] = [];
  for (const { org: organization } of (await readAddresses(signal)).orgs) {
    const found = await all<WebhookRecord>('webhooks', { query: { organization }, signal });
    hooks.push(...found.map((hook) => ({ ...hook, organization })));
  }
  const deliveries = await all<DeliveryRecord>('webhooks/outbox', { signal });
  return { hooks, latest: deliveries.toReversed() };
}

/** Part of the emulator's web page that lists the registered webhooks and the attempts to deliver events to them. */
export function WebhooksPart() {
  const { value, error } = useLoaded(readAll, [], 2000);
  const { shown, more } = useMore(value?.latest ?? [], { first: STEP, step: STEP, of: 'deliveries' });
  if (value === undefined) return <Loading value={value} error={error} />;
  const { hooks } = value;
  return (
    <>
      <Failure error={error} />
      <h2>Registered</h2>
      {hooks.length === 0 ? (
        <>
          <p>No webhook is registered. Register one with a token of the scope repo:write:</p>
          <Copy text={REGISTER} />
        </>
      ) : (
        <Table
          label="Webhooks"
          items={hooks}
          keyOf={({ id }) => id}
          columns={[
            ['URL', ({ url }) => url],
            ['Organization', ({ organization }) => organization],
            ['Events', ({ events }) => events.join(', ')],
            ['Since', ({ created_at }) => <DateTime at={created_at} />],
          ]}
        />
      )}
      <h2>Outbox</h2>
      {shown.length === 0 && (
        <p class="quiet">
          Nothing has been sent yet, and nothing is pending. A push to a repository of an organization with a webhook
          shows here.
        </p>
      )}
      {shown.map((delivery) => (
        <DeliveryCard key={delivery.id} delivery={delivery} />
      ))}
      {more}
      <Commands lines={[['clock', 'advance', 'PT1H']]} />
    </>
  );
}

function DeliveryCard({ delivery }: { readonly delivery: DeliveryRecord }) {
  const { state, event, organization, url, attempts, next_attempt_at: next, payload } = delivery;
  const [isOpen, setOpen] = useState(false);
  const last = attempts.at(-1);
  return (
    <details class="card" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <strong class={ownValue(COLOURS, state)}>{state}</strong> {event} of <Given text={organization} /> to{' '}
        <Given text={url} />{' '}
        <span class="quiet">
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
          <ul>
            {attempts.map(({ at, status, error }) => (
              <li key={at}>
                <DateTime at={at} /> {status ?? <Given text={error ?? 'no answer'} />}
              </li>
            ))}
            {next !== null && (
              <li>
                next try at <DateTime at={next} /> <MoveClock to={next} />
              </li>
            )}
          </ul>
          <GivenBlock text={JSON.stringify(payload, undefined, 2)} />
        </>
      )}
    </details>
  );
}

/** Shell commands that the user can copy to create a token and register a webhook. */
const REGISTER = `TOKEN=$(${emulatorLine(['token', '--repo', 'team/app', '--scopes', 'repo:write'])})
curl -X POST ${location.origin}/api/v1/webhooks -H "Authorization: Bearer $TOKEN" \\
  -H 'Content-Type: application/json' -d '{"url":"http://127.0.0.1:9000/"}'`;

/**
 * Button that advances the emulator's clock to the next attempt of a webhook delivery. There is no button if the clock
 * follows real time, because the attempt then happens without the user.
 */
function MoveClock({ to }: { readonly to: string }) {
  const { value: clock } = useLoaded(readClock, []);
  if (clock === undefined || clock.mode === 'real') return null;
  return (
    <ActionButton class="small" act={() => patch('clock', { now: to })}>
      Advance the clock to it
    </ActionButton>
  );
}
