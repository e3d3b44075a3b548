import { z } from 'zod';
import { readGivenFault } from '../faults/given-fault.js';
import { faultSchema, readFault } from '../faults/schema.js';
import { problem } from '../http/problem.js';
import { empty, json } from '../http/reply.js';
import { listOf, listQuery, writeList } from './lists.js';
import { type AdminContext, adminRoute } from './route.js';

/** What was set, and what has become of it. */
const faultRecord = z.looseObject({
  id: z.string(),
  source: z.enum(['registered', 'in-band']),
  text: z.string().optional().meta({ description: 'As requests ask for it, where they do.' }),
  matched: z.int(),
  fired: z.int(),
  remaining: z.int().nullable(),
  skippedBecause: z.record(z.string(), z.int()),
  requestIds: z.array(z.string()),
});

const members = z.record(z.string(), z.unknown(), 'Has to be an object');

/** A fault in JSON; or in the words of the grammar, as `spec`, with the members that say which requests are meant. */
const writtenFault = z.union([faultSchema, z.looseObject({ spec: z.string() })]);

/** Counts the changes of the registered faults (RFC 9110, 8.8.3). */
function etagOf({ world }: Pick<AdminContext, 'world'>): Readonly<Record<string, string>> {
  return { etag: `"${world.state.faults.revision}"` };
}

export const listFaults = adminRoute({
  id: 'listFaults',
  method: 'GET',
  path: '/faults',
  summary: 'List the faults: those that are registered, and those that requests have asked for',
  access: 'token',
  query: z.strictObject(listQuery),
  replies: { 200: listOf(faultRecord) },
  handle: (ctx) => {
    const items = ctx.world.state.faults.list();
    const { headers, ...reply } = writeList(ctx, { of: ['faults'], items, keyOf: ({ id }) => id, show: (one) => one });
    return { ...reply, headers: { ...headers, ...etagOf(ctx) } };
  },
});

export const addFault = adminRoute({
  id: 'addFault',
  method: 'POST',
  path: '/faults',
  summary: 'Add a fault, as JSON or in the words of the grammar',
  access: 'token',
  body: members,
  shownBody: writtenFault,
  replies: { 201: faultRecord },
  errors: ['conflict'],
  handle: (ctx) => {
    const fault = readGivenFault(ctx.body, 'The fault');
    return json(201, ctx.world.state.faults.add(fault, ctx.operations), etagOf(ctx));
  },
});

export const replaceFaults = adminRoute({
  id: 'replaceFaults',
  method: 'PUT',
  path: '/faults',
  summary:
    'Put these faults in the place of all that are registered, or of none; with If-Match, unless they have changed',
  access: 'token',
  body: z.strictObject({ faults: z.array(members) }),
  shownBody: z.strictObject({ faults: z.array(writtenFault) }),
  replies: { 200: z.object({ items: z.array(faultRecord) }) },
  errors: ['conflict', 'precondition_failed'],
  handle: (ctx) => {
    const { faults } = ctx.world.state;
    const condition = ctx.header('if-match');
    if (condition !== undefined && condition !== '*' && condition !== etagOf(ctx).etag) {
      throw problem('precondition_failed', `The faults have changed: their ETag is ${etagOf(ctx).etag}.`);
    }
    const wanted = ctx.body.faults.map((fault, index) => readGivenFault(fault, `faults.${index}`));
    return json(200, { items: faults.replaceAll(wanted, ctx.operations) }, etagOf(ctx));
  },
});

export const showFault = adminRoute({
  id: 'showFault',
  method: 'GET',
  path: '/faults/{id}',
  summary: 'Show a fault, and what has become of it',
  access: 'token',
  replies: { 200: faultRecord },
  errors: ['not_found'],
  handle: ({ world, params }) => {
    const found = world.state.faults.get(params.id!);
    if (!found) throw noFault(params.id!);
    return json(200, found);
  },
});

export const changeFault = adminRoute({
  id: 'changeFault',
  method: 'PATCH',
  path: '/faults/{id}',
  summary: 'Change members of a registered fault; its counters go on',
  access: 'token',
  body: members,
  shownBody: faultSchema,
  replies: { 200: faultRecord },
  errors: ['not_found', 'conflict'],
  handle: (ctx) => {
    const changed = ctx.world.state.faults.patch(ctx.params.id!, readFault(ctx.body, 'The fault'), ctx.operations);
    if (!changed) throw noFault(ctx.params.id!);
    return json(200, changed, etagOf(ctx));
  },
});

export const removeFault = adminRoute({
  id: 'removeFault',
  method: 'DELETE',
  path: '/faults/{id}',
  summary: 'End a fault, or the counters of one that requests ask for',
  access: 'token',
  replies: { 204: '' },
  errors: ['not_found'],
  handle: ({ world, params }) => {
    if (!world.state.faults.remove(params.id!)) throw noFault(params.id!);
    return empty(204);
  },
});

export const releaseLatch = adminRoute({
  id: 'releaseLatch',
  method: 'POST',
  path: '/latches/{name}/release',
  summary: 'Let go of what is held by a latch, and end the states that last until it is released',
  access: 'token',
  replies: { 200: z.object({ released: z.int() }) },
  handle: ({ world, params }) => json(200, { released: world.releaseLatch(params.name!) }),
});

function noFault(id: string) {
  return problem('not_found', `There is no fault ${JSON.stringify(id)}.`);
}
