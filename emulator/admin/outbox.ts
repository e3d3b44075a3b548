import type { Delivery } from '../webhooks/delivery.js';

/** A delivery as the outbox shows it: everything but the secret it is signed with. */
export function showDelivery({ id, webhook, event, body, state, attempts, nextAttemptAt }: Delivery) {
  return {
    id,
    organization: webhook.organization,
    webhook_id: webhook.id,
    url: webhook.url,
    event,
    payload: JSON.parse(body.toString()) as unknown,
    state,
    attempts: attempts.map(({ at, ...outcome }) => ({ at: new Date(at).toISOString(), ...outcome })),
    next_attempt_at: nextAttemptAt === undefined ? null : new Date(nextAttemptAt).toISOString(),
  };
}
