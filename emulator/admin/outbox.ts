import { z } from 'zod';
import { showWebhook, webhookRecord } from '../api/operations/webhooks.js';
import { problem } from '../http/problem.js';
import { json } from '../http/reply.js';
import { deliveryRecord, showDelivery } from './delivery-record.js';
import { listOf, listQuery, writeList } from './lists.js';
import { adminRoute, organizationName, requireFound } from './route.js';

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
  query: z.strictObject({
    ...listQuery,
    organization: z
      .string()
      .optional()
      .meta({ description: 'Only deliveries of this organization. With repository, the default is as elsewhere.' }),
    repository: z
      .string()
      .optional()
      .meta({ description: 'Only deliveries of events in the repository of this name.' }),
    order: z
      .enum(['oldest', 'newest'], 'must be oldest or newest')
      .optional()
      .meta({ description: 'Deliveries that come first; default oldest.' }),
  }),
  replies: { 200: listOf(deliveryRecord) },
  errors: ['not_found'],
  handle: (ctx) => {
    const { organization, repository, order = 'oldest' } = ctx.query;
    const { deliveries, repositories } = ctx.world.state;
    const found =
      repository === undefined
        ? undefined
        : requireFound(repositories.find(organization ?? ctx.organization, repository), 'repository', repository);
    const items = [...deliveries.all()].filter(
      ({ webhook, repositoryId }) =>
        (organization === undefined || webhook.organization === organization) &&
        (found === undefined || repositoryId === found.id),
    );
    return writeList(ctx, {
      of: ['outbox', organization, found?.id, order],
      items: order === 'newest' ? items.reverse() : items,
      show: showDelivery,
    });
  },
});

export const resendDelivery = adminRoute({
  method: 'POST',
  path: '/webhooks/outbox/{id}/resend',
  summary: 'Send the event of an ended delivery again, as a new delivery with the same payload',
  replies: { 201: deliveryRecord },
  errors: ['not_found', 'conflict'],
  handle: ({ world, params }) => {
    const { deliveries, webhooks } = world.state;
    const delivery = requireFound(deliveries.get(params.id!), 'delivery', params.id);
    const { id, webhook, state } = delivery;
    if (state === 'pending')
      throw problem(
        'conflict',
        `The delivery ${id} is pending. Resend it when it has ended, or advance the clock to its next attempt.`,
      );
    if (!webhooks.has(webhook.id))
      throw problem(
        'conflict',
        `The webhook ${webhook.id} of the delivery ${id} was removed. A new webhook receives only new events.`,
      );
    return json(201, showDelivery(world.background.outbox.resend(delivery)));
  },
});
