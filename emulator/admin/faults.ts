import { z } from 'zod';
import type { Fault } from '../faults/fault.js';
import { readGivenFault, within } from '../faults/given-fault.js';
import { faultReference } from '../faults/reference.js';
import { faultSchema, readFault } from '../faults/schema.js';
import { STAGES, type Stage } from '../faults/stage.js';
import { checkShape } from '../http/body.js';
import { problem } from '../http/problem.js';
import { empty, json } from '../http/reply.js';
import { inSlices, type Steps } from '../schedule/steps.js';
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
const writtenFault = z.union([faultSchema(), z.looseObject({ spec: z.string() })]);

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

const stageName = z.enum(Object.keys(STAGES) as [Stage, ...Stage[]]);

const keyRecord = z.object({
  key: z.string(),
  wants: z.string(),
  needed: z.boolean(),
  type: z.enum(['integer', 'number', 'text', 'choice']),
  least: z.number().optional(),
  most: z.number().optional(),
  values: z.array(z.string()).optional().meta({ description: 'Allowed beside those of the type; of a choice all.' }),
  longest: z.int().optional().meta({ description: 'Most characters.' }),
  example: z.string(),
  narrows: z.array(z.object({ value: z.string().optional(), stages: z.array(stageName) })).meta({
    description: 'Where the fault can happen with the key, where that is not everywhere: of a choice by its value.',
  }),
});

export const listFaultKinds = adminRoute({
  id: 'listFaultKinds',
  method: 'GET',
  path: '/fault-kinds',
  summary: 'List what faults can do: their names, keys and stages',
  access: 'token',
  replies: {
    200: z.object({
      grammar: z.string(),
      stages: z.record(z.string(), z.string()),
      items: z.array(
        z.object({
          name: z.string(),
          about: z.string(),
          action: z.string().meta({ description: 'The member of do that it is in JSON.' }),
          status: z.int().optional().meta({ description: 'Of a code.' }),
          keys: z.array(keyRecord),
          one_of: z.array(z.string()).meta({ description: 'Keys of which at most one may be given.' }),
          stages: z.array(stageName),
          defaults: z.record(z.string(), stageName).meta({
            description:
              'The stage unless one is given: of gitInfoRefs, gitUploadPack, gitReceivePack, and of all others as api.',
          }),
          in_band_stages: z.array(stageName).meta({ description: 'Those that a header or a claim can ask for.' }),
          is_of_few: z.boolean().meta({ description: 'Only operations whose codes name it can answer with it.' }),
        }),
      ),
    }),
  },
  handle: ({ current, buildOnce }) =>
    json(
      200,
      buildOnce('fault-kinds', () => listKinds(current.config.forgePrefix)),
    ),
});

function listKinds(forgePrefix: string) {
  const { grammar, stages, names } = faultReference(forgePrefix);
  const items = names.map(({ defaultStages: _, oneOf, inBandStages, isOfFew, ...rest }) => ({
    ...rest,
    one_of: oneOf,
    in_band_stages: inBandStages,
    is_of_few: isOfFew,
  }));
  return { grammar, stages, items };
}

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

export const checkFault = adminRoute({
  id: 'checkFault',
  method: 'POST',
  path: '/fault-checks',
  summary: 'Read a fault as it would be added, and add none: what it is in JSON, or why it is none',
  access: 'token',
  body: members,
  shownBody: writtenFault,
  replies: { 200: z.object({ fault: z.looseObject({}) }) },
  handle: ({ world, body, operations }) => {
    const fault = readGivenFault(body, 'The fault');
    world.state.faults.check(fault, operations);
    return json(200, { fault });
  },
});

export const replaceFaults = adminRoute({
  id: 'replaceFaults',
  method: 'PUT',
  path: '/faults',
  summary:
    'Put these faults in the place of all that are registered, or of none; with If-Match, unless they have changed',
  access: 'token',
  body: z.strictObject({ faults: z.array(z.unknown()) }),
  shownBody: z.strictObject({ faults: z.array(writtenFault) }),
  replies: { 200: z.object({ items: z.array(faultRecord) }) },
  errors: ['conflict', 'precondition_failed'],
  handle: async (ctx) => {
    const { faults } = ctx.world.state;
    faults.requireRoom(ctx.body.faults.length);
    const wanted = await inSlices(readFaults(ctx.body.faults), ctx.meter);
    const condition = ctx.header('if-match');
    if (condition !== undefined && condition !== '*' && condition !== etagOf(ctx).etag) {
      throw problem('precondition_failed', `The faults have changed: their ETag is ${etagOf(ctx).etag}.`);
    }
    return json(200, { items: faults.replaceAll(wanted, ctx.operations) }, etagOf(ctx));
  },
});

/** Cost of reading one fault, in units of work. */
const FAULT_UNITS = 100;

function* readFaults(given: readonly unknown[]): Steps<Fault[]> {
  const faults: Fault[] = [];
  for (const [index, fault] of given.entries()) {
    const at = `faults.${index}`;
    faults.push(within(at, () => readGivenFault(checkShape(members, fault, at), at)));
    yield FAULT_UNITS;
  }
  return faults;
}

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
  shownBody: faultSchema(),
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

export const listLatches = adminRoute({
  id: 'listLatches',
  method: 'GET',
  path: '/latches',
  summary: 'List the latches that something waits for, with how much does',
  access: 'token',
  replies: { 200: z.object({ items: z.array(z.object({ name: z.string(), waiting: z.int() })) }) },
  handle: ({ world }) => {
    const items = [...world.background.latches.waiting()].map(([name, waiting]) => ({ name, waiting }));
    return json(200, { items });
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
