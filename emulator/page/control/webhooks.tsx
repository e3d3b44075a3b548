import type { DeliveryRecord } from '@emulator/admin/delivery-record.js';
import type { WebhookRecord } from '@emulator/admin/outbox.js';
import { readAddresses } from '../api/addresses.js';
import { all } from '../api/client.js';
import { Copy } from '../components/copy.js';
import { useMore } from '../components/lists.js';
import { Failure, Loading, useLoaded } from '../components/loaded.js';
import { Table } from '../components/table.js';
import { DateTime } from '../components/time.js';
import { Commands, emulatorLine } from './command.js';
import { DeliveryCard } from './delivery.js';

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
            ['Registered at', ({ created_at }) => <DateTime at={created_at} />],
          ]}
        />
      )}
      <h2>Deliveries</h2>
      {shown.length === 0 && (
        <p class="quiet">No deliveries yet. Register a webhook and push to a repository of its organization.</p>
      )}
      {shown.map((delivery) => (
        <DeliveryCard key={delivery.id} delivery={delivery} />
      ))}
      {more}
      <Commands lines={[['clock', 'advance', 'PT1H']]} />
    </>
  );
}

/** Shell commands that the user can copy to create a token and register a webhook. */
const REGISTER = `TOKEN=$(${emulatorLine(['token', '--repo', 'team/app', '--scopes', 'repo:write'])})
curl -X POST ${location.origin}/api/v1/webhooks -H "Authorization: Bearer $TOKEN" \\
  -H 'Content-Type: application/json' -d '{"url":"http://127.0.0.1:9000/"}'`;
