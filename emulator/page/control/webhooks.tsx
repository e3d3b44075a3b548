import { useState } from 'preact/hooks';
import { readAddresses } from '../api/addresses.js';
import { all, patch } from '../api/client.js';
import { Copy } from '../components/copy.js';
import { Failure, Loading } from '../components/feedback.js';
import { Given, GivenBlock } from '../components/given.js';
import { useAction, useLoaded } from '../components/loaded.js';
import { ownValue } from '../components/own-value.js';
import { useRepeated } from '../components/repeated.js';
import { Table } from '../components/table.js';
import { count, DateTime } from '../components/time.js';
import { readClock } from './clock-record.js';
import { Commands, emulatorLine } from './command.js';

interface Webhook {
  readonly id: string;
  readonly organization: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly created_at: string;
}

interface Delivery {
  readonly id: string;
  readonly organization: string;
  readonly url: string;
  readonly event: string;
  readonly payload: unknown;
  readonly state: 'pending' | 'delivered' | 'failed' | 'canceled';
  readonly attempts: readonly { readonly at: string; readonly status?: number; readonly error?: string }[];
  readonly next_attempt_at: string | null;
}

const COLOURS: Readonly<Record<string, string>> = { delivered: 'passed', failed: 'failed' };

/** Deliveries that are shown at first, and with each click more. */
const STEP = 50;

/** Those of every organization. */
async function readWebhooks(signal: AbortSignal): Promise<Webhook[]> {
  const found: Webhook[] = [];
  for (const { org } of await readAddresses(signal)) {
    const hooks = await all<Omit<Webhook, 'organization'>>('webhooks', { query: { organization: org }, signal });
    found.push(...hooks.map((hook) => ({ ...hook, organization: org })));
  }
  return found;
}

/** What is registered, and what was sent or is to be. */
export function WebhooksPart() {
  const hooks = useLoaded(readWebhooks, []);
  const [most, setMost] = useState(STEP);
  const outbox = useLoaded((signal) => all<Delivery>('webhooks/outbox', { signal }), []);
  useRepeated(() => {
    hooks.reload();
    outbox.reload();
  }, 2000);
  const unloaded = hooks.error ?? outbox.error;
  if (hooks.value === undefined || outbox.value === undefined) {
    return <Loading value={undefined} error={unloaded} />;
  }
  const latest = outbox.value.toReversed();
  return (
    <>
      <Failure error={unloaded} />
      <h2>Registered</h2>
      {hooks.value.length === 0 ? <Register /> : <Registered hooks={hooks.value} />}
      <h2>Outbox</h2>
      {latest.length === 0 && (
        <p class="quiet">
          Nothing was sent yet, and nothing waits. A push to a repository of an organization with a webhook shows here.
        </p>
      )}
      {latest.slice(0, most).map((delivery) => (
        <DeliveryCard key={delivery.id} delivery={delivery} />
      ))}
      {latest.length > most && (
        <button type="button" onClick={() => setMost(most + STEP)}>
          Show older ones ({count(latest.length - most)})
        </button>
      )}
      <Commands lines={[['clock', 'advance', 'PT1H']]} />
    </>
  );
}

function DeliveryCard({ delivery }: { readonly delivery: Delivery }) {
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
          {last !== undefined && <>, the last {last.status ?? 'without an answer'}</>}
          {next !== null && (
            <>
              , next at <DateTime at={next} />
            </>
          )}
        </span>
      </summary>
      {isOpen && (
        <>
          <Attempts delivery={delivery} />
          <GivenBlock text={JSON.stringify(payload, undefined, 2)} />
        </>
      )}
    </details>
  );
}

function Register() {
  return (
    <>
      <p>No webhook is registered. A token with the scope repo:write registers one:</p>
      <Copy
        text={`TOKEN=$(${emulatorLine(['token', '--repo', 'team/app', '--scopes', 'repo:write'])})
curl -X POST ${location.origin}/api/v1/webhooks -H "Authorization: Bearer $TOKEN" \\
  -H 'Content-Type: application/json' -d '{"url":"http://127.0.0.1:9000/"}'`}
      />
    </>
  );
}

function Registered({ hooks }: { readonly hooks: readonly Webhook[] }) {
  return (
    <Table label="Webhooks" heads={['URL', 'Organization', 'Events', 'Since']}>
      {hooks.map(({ id, url, organization, events, created_at }) => (
        <tr key={id}>
          <td>
            <Given text={url} />
          </td>
          <td>
            <Given text={organization} />
          </td>
          <td>{events.join(', ')}</td>
          <td>
            <DateTime at={created_at} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

function Attempts({ delivery: { attempts, next_attempt_at: next } }: { readonly delivery: Delivery }) {
  return (
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
  );
}

/** Nobody has to wait for a clock that stands still. */
function MoveClock({ to }: { readonly to: string }) {
  const { value: clock } = useLoaded(readClock, []);
  const { run, isBusy, error } = useAction();
  if (clock === undefined || clock.mode === 'real') return null;
  return (
    <>
      <button type="button" class="small" disabled={isBusy} onClick={() => run(() => patch('clock', { now: to }))}>
        Move the clock there
      </button>
      <Failure error={error} />
    </>
  );
}
