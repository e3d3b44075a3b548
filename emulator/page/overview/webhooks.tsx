import type { DeliveryRecord } from '@emulator/admin/delivery-record.js';
import type { WebhookRecord } from '@emulator/admin/outbox.js';
import type { RepositoryRecord } from '@emulator/admin/repositories.js';
import { all, get, type Page } from '../api/client.js';
import { useLoaded } from '../components/loaded.js';
import { Table } from '../components/table.js';
import { DeliveryCard } from '../control/delivery.js';
import { writePlace } from '../place.js';
import { Part } from './part.js';

/** Number of deliveries that are shown. */
const MAX_DELIVERIES = 5;

/** Number of webhooks that are shown at first. */
const MAX_WEBHOOKS = 5;

/** Milliseconds between two requests that read the deliveries. An attempt causes no event. */
const PAUSE = 2_000;

/**
 * Part of the overview with the webhooks of the organization, and with the newest deliveries of events in the
 * repository.
 */
export function Webhooks({ name, organization }: Pick<RepositoryRecord, 'name' | 'organization'>) {
  const loaded = useLoaded(
    async (signal) => {
      const query = { organization, repository: name, order: 'newest', limit: MAX_DELIVERIES };
      const [hooks, deliveries] = await Promise.all([
        all<WebhookRecord>('webhooks', { query: { organization }, signal }),
        get<Page<DeliveryRecord>>('webhooks/outbox', { query, signal }),
      ]);
      return { hooks, deliveries: deliveries.items };
    },
    [name, organization],
    PAUSE,
  );
  return (
    <Part title="Webhooks" loaded={loaded} link={[writePlace('control', { part: 'webhooks' }), 'All webhooks']}>
      {({ hooks, deliveries }) => (
        <>
          <Table
            label="Webhooks"
            empty="The organization has no webhook."
            items={hooks}
            keyOf={({ id }) => id}
            most={MAX_WEBHOOKS}
            columns={[
              ['URL', ({ url }) => url, 'cell-text'],
              ['Events', ({ events }) => events.join(', '), 'cell-text'],
            ]}
          />
          {(hooks.length > 0 || deliveries.length > 0) && <h3>Last deliveries</h3>}
          {hooks.length > 0 && deliveries.length === 0 && (
            <p class="quiet">No event of this repository has been sent to a webhook.</p>
          )}
          {deliveries.map((delivery) => (
            <DeliveryCard key={delivery.id} delivery={delivery} />
          ))}
        </>
      )}
    </Part>
  );
}
