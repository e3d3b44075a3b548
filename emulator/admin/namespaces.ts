import { z } from 'zod';
import { problem } from '../http/problem.js';
import { empty, json } from '../http/reply.js';
import { type NamespaceView, namespaceOptions, namespaceRecord } from './controls.js';
import { listOf, listQuery, writeList } from './lists.js';
import { adminRoute } from './route.js';

export const createNamespace = adminRoute({
  id: 'createNamespace',
  method: 'POST',
  path: '/namespaces',
  summary: 'Make an isolated world on a port of its own: empty, or a copy of a snapshot of this world',
  access: 'token',
  body: namespaceOptions,
  replies: { 201: namespaceRecord },
  errors: ['service_unavailable'],
  handle: async ({ controls, body }) => json(201, await controls.namespaces.make(body)),
});

export const listNamespaces = adminRoute({
  id: 'listNamespaces',
  method: 'GET',
  path: '/namespaces',
  summary: 'List the namespaces, oldest first; in a namespace, those that were made there',
  access: 'token',
  query: z.strictObject(listQuery),
  replies: { 200: listOf(namespaceRecord) },
  handle: (ctx) => {
    const items = ctx.controls.namespaces.list();
    return writeList(ctx, { of: ['namespaces'], items, keyOf: ({ id }) => id, show: (one: NamespaceView) => one });
  },
});

export const showNamespace = adminRoute({
  id: 'showNamespace',
  method: 'GET',
  path: '/namespaces/{id}',
  summary: 'Show where a namespace is',
  access: 'token',
  replies: { 200: namespaceRecord },
  errors: ['not_found'],
  handle: (ctx) => {
    const found = ctx.controls.namespaces.get(ctx.params.id!);
    if (!found) throw noNamespace(ctx.params.id!);
    return json(200, found);
  },
});

export const removeNamespace = adminRoute({
  id: 'removeNamespace',
  method: 'DELETE',
  path: '/namespaces/{id}',
  summary: 'Remove a namespace with all that is in it',
  access: 'token',
  replies: { 204: '' },
  errors: ['not_found'],
  handle: async (ctx) => {
    if (!(await ctx.controls.namespaces.remove(ctx.params.id!))) throw noNamespace(ctx.params.id!);
    return empty(204);
  },
});

function noNamespace(id: string) {
  return problem('not_found', `There is no namespace ${JSON.stringify(id)}.`);
}
