import { z } from 'zod';
import { empty, json } from '../http/reply.js';
import { namespaceOptions, namespaceRecord } from './controls.js';
import { listOf, listQuery, writeList } from './lists.js';
import { adminRoute, requireFound } from './route.js';

export const createNamespace = adminRoute({
  method: 'POST',
  path: '/namespaces',
  summary: 'Create an isolated world on a port of its own: empty, or a copy of a snapshot of this world',
  body: namespaceOptions,
  replies: { 201: namespaceRecord },
  errors: ['service_unavailable'],
  handle: async ({ controls, body }) => json(201, await controls.namespaces.make(body)),
});

export const listNamespaces = adminRoute({
  path: '/namespaces',
  summary: 'List the namespaces, oldest first; in a namespace, only those that it created',
  query: z.strictObject(listQuery),
  replies: { 200: listOf(namespaceRecord) },
  handle: (ctx) => writeList(ctx, { of: ['namespaces'], items: ctx.controls.namespaces.list() }),
});

export const showNamespace = adminRoute({
  path: '/namespaces/{id}',
  summary: 'Show the addresses of a namespace',
  replies: { 200: namespaceRecord },
  handle: (ctx) => {
    const { id } = ctx.params;
    return json(200, requireFound(ctx.controls.namespaces.get(id!), 'namespace', id));
  },
});

export const removeNamespace = adminRoute({
  method: 'DELETE',
  path: '/namespaces/{id}',
  summary: 'Remove a namespace and everything in it',
  replies: { 204: '' },
  handle: async (ctx) => {
    const { id } = ctx.params;
    requireFound(await ctx.controls.namespaces.remove(id!), 'namespace', id);
    return empty(204);
  },
});
