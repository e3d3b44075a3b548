import { z } from 'zod';
import { errorCodesOf } from '../api/error-codes.js';
import { stagesOf } from '../faults/request-shape.js';
import { shownCode } from '../http/problem.js';
import type { Operation } from '../operation/operation.js';
import { listOf, listQuery, writeList } from './lists.js';
import { adminRoute } from './route.js';

const operationRecord = z.object({
  id: z.string(),
  group: z.string(),
  summary: z.string(),
  routes: z.array(z.object({ method: z.string(), path: z.string() })),
  scopes: z.array(z.string()),
  effect: z.enum(['read', 'write', 'delete']),
  stages: z.array(z.string()),
  codes: z.array(z.string()),
});

export type OperationRecord = z.infer<typeof operationRecord>;

export const listOperations = adminRoute({
  path: '/operations',
  summary: 'List the operations of the service, with the fault stages and the error codes of each',
  query: z.strictObject(listQuery),
  replies: { 200: listOf(operationRecord) },
  handle: (ctx) =>
    writeList(ctx, {
      of: ['operations'],
      items: ctx.buildOnce('operations', () =>
        ctx.operations.map((operation) => showOperation(operation, ctx.current.config.forgePrefix)),
      ),
    }),
});

function showOperation(operation: Operation, forgePrefix: string): OperationRecord {
  return {
    id: operation.id,
    group: operation.group,
    summary: operation.summary,
    routes: operation.routes.map(({ method, path }) => ({ method, path })),
    scopes: [...operation.scopes],
    effect: operation.effect,
    stages: [...stagesOf(operation)],
    codes: Array.from(errorCodesOf(operation), (code) => shownCode(code, forgePrefix)),
  };
}
