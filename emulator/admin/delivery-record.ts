import { z } from 'zod';
import { isoTime } from '../time/iso-8601.js';
import type { Delivery } from '../webhooks/delivery.js';

/** Delivery of one event to one webhook in responses of the admin API. */
export const deliveryRecord = z.object({
  id: z.string(),
  organization: z.string(),
  webhook_id: z.string(),
  url: z.string(),
  event: z.string(),
  payload: z.unknown(),
  state: z.enum(['pending', 'delivered', 'failed', 'canceled']),
  attempts: z.array(z.object({ at: z.string(), status: z.int().optional(), error: z.string().optional() })),
  next_attempt_at: z.string().nullable(),
  resend_of: z
    .string()
    .optional()
    .meta({ description: 'Id of the delivery whose event this delivery sends again; absent for the first delivery.' }),
});

export type DeliveryRecord = z.infer<typeof deliveryRecord>;

/**
 * Returns the record of a webhook delivery (one event sent to one URL). The record omits the webhook's signing secret.
 */
export function showDelivery(delivery: Delivery): DeliveryRecord {
  const { id, webhook, event, body, state, attempts, nextAttemptAt, resendOf } = delivery;
  return {
    id,
    organization: webhook.organization,
    webhook_id: webhook.id,
    url: webhook.url,
    event,
    payload: JSON.parse(body.toString()) as unknown,
    state,
    attempts: attempts.map(({ at, ...outcome }) => ({ at: isoTime(at), ...outcome })),
    next_attempt_at: nextAttemptAt === undefined ? null : isoTime(nextAttemptAt),
    ...(resendOf !== undefined && { resend_of: resendOf }),
  };
}
