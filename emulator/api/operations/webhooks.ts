import { z } from 'zod';
import { problem } from '../../http/problem.js';
import { empty, json } from '../../http/reply.js';
import { lazy } from '../../memory/lazy.js';
import { operationsOf } from '../../operation/operation.js';
import { presentWhen } from '../../operation/reply-schema.js';
import { isoTime } from '../../time/iso-8601.js';
import { DEFAULT_EVENTS, EVENT_NAMES, type Webhook } from '../../webhooks/events.js';

const operation = operationsOf('Webhooks', { subject: 'organization' });

/**
 * Maximum number of webhooks of one organization. The limit is needed because each event is sent to all its
 * subscribers.
 */
const MAX_WEBHOOKS = 100;

/** Schema of a webhook (URL that receives events) in responses. The signing secret is omitted. */
export const webhookRecord = lazy(() =>
  z.object({
    id: z.string(),
    url: z.string(),
    events: z.array(z.enum(EVENT_NAMES)),
    created_at: z.iso.datetime(),
  }),
);

export function showWebhook({ id, url, events, createdAt }: Webhook): z.infer<ReturnType<typeof webhookRecord>> {
  return { id, url, events: [...events], created_at: isoTime(createdAt) };
}

export const createWebhook = operation({
  summary: 'Register a URL for events of the organization',
  routes: [{ method: 'POST', path: '/api/v1/webhooks' }],
  scopes: ['repo:write'],
  body: () =>
    z.object({
      url: z.string().max(2048),
      events: z.array(z.enum(EVENT_NAMES)).min(1).optional(),
      secret: z.string().min(1).max(1024).optional(),
    }),
  replies: () => ({
    201: webhookRecord().extend({
      secret: presentWhen(z.string(), 'the request has no secret; the response is the only place that shows it'),
    }),
  }),
  errors: ['conflict'],
  handle: ({ world, organization, body }) => {
    const url = URL.canParse(body.url) ? new URL(body.url) : undefined;
    if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
      throw problem('bad_request', 'url must be an http or https URL, without user name and password.');
    }
    if (!world.background.webhookOutbound.mayReach(url)) {
      throw problem(
        'bad_request',
        `Webhooks may not be delivered to the host ${url.hostname}. Start the emulator with --allow-webhook ${url.hostname}.`,
      );
    }
    if (world.state.webhooks.of(organization.name).length >= MAX_WEBHOOKS) {
      throw problem(
        'conflict',
        `The organization already has ${MAX_WEBHOOKS} webhooks, the maximum. Delete one first.`,
      );
    }
    const webhook: Webhook = {
      id: world.state.ids.prefixed('webhook', 'whk'),
      organization: organization.name,
      url: url.href,
      events: [...new Set(body.events ?? DEFAULT_EVENTS)],
      secret: body.secret ?? world.state.ids.prefixed('webhook-secret', 'whsec'),
      createdAt: world.state.clock.now(),
    };
    world.state.webhooks.add(webhook);
    return json(201, { ...showWebhook(webhook), ...(body.secret === undefined && { secret: webhook.secret }) });
  },
});

export const listWebhooks = operation({
  summary: 'List the registered URLs',
  routes: [{ method: 'GET', path: '/api/v1/webhooks' }],
  scopes: ['org:read'],
  replies: () => ({ 200: z.object({ webhooks: z.array(webhookRecord()) }) }),
  handle: ({ world, organization }) =>
    json(200, { webhooks: world.state.webhooks.of(organization.name).map(showWebhook) }),
});

export const deleteWebhook = operation({
  summary: 'Remove a registered URL',
  routes: [{ method: 'DELETE', path: '/api/v1/webhooks/{webhook_id}' }],
  scopes: ['repo:write'],
  replies: () => ({ 204: '' }),
  errors: ['not_found'],
  handle: ({ world, organization, params }) => {
    const webhook = world.state.webhooks.of(organization.name).find(({ id }) => id === params.webhook_id);
    if (!webhook) throw problem('not_found', `The organization has no webhook ${JSON.stringify(params.webhook_id)}.`);
    world.state.webhooks.remove(webhook.id);
    // Events that wait to be sent to the removed webhook are canceled.
    world.background.outbox.cancel(webhook.id);
    return empty(204);
  },
});
