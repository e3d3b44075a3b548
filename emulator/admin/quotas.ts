import { z } from 'zod';
import { json } from '../http/reply.js';
import {
  changeQuotas as applyQuotaChanges,
  quotaChangesSchema,
  quotaSchema,
  showQuota,
} from '../quotas/quota-changes.js';
import type { World } from '../world/world.js';
import { adminRoute } from './route.js';

export type { QuotaView } from '../quotas/quota-changes.js';

const quotasRecord = z.object({ quotas: z.record(z.string(), quotaSchema()) });

function showAll({ state }: World): z.infer<typeof quotasRecord> {
  return { quotas: Object.fromEntries(state.quotas.list().map((quota) => [quota.name, showQuota(quota)])) };
}

export const showQuotas = adminRoute({
  path: '/quotas',
  summary: 'Show the quotas by name',
  replies: { 200: quotasRecord },
  handle: ({ world }) => json(200, showAll(world)),
});

export const changeQuotas = adminRoute({
  method: 'PATCH',
  path: '/quotas',
  summary: 'Set quotas by name, and remove those that are null; all or nothing',
  body: z.strictObject({ quotas: quotaChangesSchema().optional() }),
  replies: { 200: quotasRecord },
  handle: ({ world, body }) => {
    applyQuotaChanges(world, body.quotas ?? {});
    return json(200, showAll(world));
  },
});
