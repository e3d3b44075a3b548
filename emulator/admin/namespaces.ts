import { z } from 'zod';
import { problem } from '../http/problem.js';
import { empty, json } from '../http/reply.js';
import { type NamespaceControl, type NamespaceView, namespaceOptions, namespaceRecord } from './controls.js';
import { listOf, listQuery, writeList } from './lists.js';
import { type AdminContext, adminRoute, requireFound } from './route.js';

export const createNamespace = adminRoute({
  id: 'createNamespace',
  method: 'POST',
  path: '/namespaces',
  summary: 'Make an isolated world on a port of its own: empty, or a copy of a snapshot of this world',
  body: namespaceOptions,
  replies: { 201: namespaceRecord },
  errors: ['not_found', 'service_unavailable'],
  handle: async ({ controls, body }) => {
    if (!controls.makeNamespace) throw problem('not_found', 'This server has no namespaces.');
    return json(201, await controls.makeNamespace(body));
  },
});

export const listNamespaces = adminRoute({
  id: 'listNamespaces',
  path: '/namespaces',
  summary: 'List the namespaces, oldest first',
  query: z.strictObject(listQuery),
  replies: { 200: listOf(namespaceRecord) },
  errors: ['not_found'],
  handle: (ctx) => {
    const items = requireControl(ctx).list();
    return writeList(ctx, { of: ['namespaces'], items, keyOf: ({ id }) => id, show: (one: NamespaceView) => one });
  },
});

export const showNamespace = adminRoute({
  id: 'showNamespace',
  path: '/namespaces/{id}',
  summary: 'Show where a namespace is',
  replies: { 200: namespaceRecord },
  errors: ['not_found'],
  handle: (ctx) => {
    const { id } = ctx.params;
    return json(200, requireFound(requireControl(ctx).get(id!), 'namespace', id));
  },
});

export const removeNamespace = adminRoute({
  id: 'removeNamespace',
  method: 'DELETE',
  path: '/namespaces/{id}',
  summary: 'Remove a namespace with all that is in it',
  replies: { 204: '' },
  errors: ['not_found'],
  handle: async (ctx) => {
    const { id } = ctx.params;
    requireFound(await requireControl(ctx).remove(id!), 'namespace', id);
    return empty(204);
  },
});

function requireControl({ controls }: Pick<AdminContext, 'controls'>): NamespaceControl {
  if (controls.namespaces) return controls.namespaces;
  throw problem(
    'not_found',
    'This is a namespace itself; namespaces are listed and removed where the emulator started.',
  );
}
