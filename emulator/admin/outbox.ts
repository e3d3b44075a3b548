import { z } from 'zod';
import { showWebhook, webhookRecord } from '../api/operations/webhooks.js';
import type { Delivery } from '../webhooks/delivery.js';
import { listOf, listQuery, writeList } from './lists.js';
import { adminRoute, organizationName } from './route.js';

const deliveryRecord = z.object({
  id: z.string(),
  organization: z.string(),
  webhook_id: z.string(),
  url: z.string(),
  event: z.string(),
  payload: z.unknown(),
  state: z.enum(['pending', 'delivered', 'failed', 'canceled']),
  attempts: z.array(z.object({ at: z.string(), status: z.int().optional(), error: z.string().optional() })),
  next_attempt_at: z.string().nullable(),
});

export type DeliveryRecord = z.infer<typeof deliveryRecord>;
export type WebhookRecord = z.infer<ReturnType<typeof webhookRecord>>;

export const showWebhooks = adminRoute({
  path: '/webhooks',
  summary: 'List the webhooks of an organization',
  query: z.strictObject({ ...listQuery, organization: organizationName() }),
  replies: { 200: listOf(webhookRecord()) },
  handle: (ctx) => {
    const name = ctx.query.organization ?? ctx.organization;
    return writeList(ctx, {
      of: ['webhooks', name],
      items: ctx.world.state.webhooks.of(name),
      show: showWebhook,
    });
  },
});

export const listDeliveries = adminRoute({
  path: '/webhooks/outbox',
  summary: 'List the pending and the past deliveries to webhooks, oldest first',
  query: z.strictObject(listQuery),
  replies: { 200: listOf(deliveryRecord) },
  handle: (ctx) =>
    writeList(ctx, {
      of: ['outbox'],
      items: ctx.world.state.deliveries.all(),
      show: showDelivery,
    }),
});

/**
 * Returns the record of a webhook delivery (one event sent to one URL). The record omits the webhook's signing secret.
 */
function showDelivery({ id, webhook, event, body, state, attempts, nextAttemptAt }: Delivery) {
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
