import { z } from 'zod';
import type { Fault } from '../faults/fault.js';
import type { FaultView } from '../faults/fault-view.js';
import { formsOf } from '../faults/forms.js';
import { knownFrom } from '../faults/known-facts.js';
import { MEMBERS, textKeyOf } from '../faults/members.js';
import { faultReference } from '../faults/reference.js';
import { shapesOf } from '../faults/request-shape.js';
import { faultSchema, readFault, readGivenFault, within } from '../faults/schema.js';
import { STAGES, type Stage } from '../faults/stage.js';
import { checkShape } from '../http/body.js';
import { problem } from '../http/problem.js';
import { empty, json } from '../http/reply.js';
import { firingBounds, isWithin } from '../journal/bounds.js';
import { firingText } from '../journal/expectation-text.js';
import type { Operation } from '../operation/operation.js';
import { runYielding, type Steps } from '../schedule/steps.js';
import { listOf, listQuery, writeList } from './lists.js';
import { type AdminContext, adminRoute, requireFound } from './route.js';

export type { Fault } from '../faults/fault.js';
export type { FaultView } from '../faults/fault-view.js';

/**
 * Schema of a fault in responses. A fault is a rule that makes matching requests fail or behave differently. `matched`
 * counts the requests that match the rule; `fired` counts the requests that the rule changed.
 */
const faultRecord = z.looseObject({
  id: z.string(),
  source: z.enum(['registered', 'in-band']),
  enabled: z.boolean().meta({ description: 'False if the fault is disabled: it affects no requests and counts none.' }),
  text: z.string().optional().meta({
    description: 'The fault in the text grammar; absent if only JSON can express it.',
  }),
  matched: z.int(),
  fired: z.int(),
  remaining: z.int().nullable(),
  skippedBecause: z.record(z.string(), z.int()),
  requestIds: z.array(z.string()),
  expectation: z
    .object({ text: z.string(), met: z.boolean() })
    .optional()
    .meta({ description: 'The member expect in words, and whether it is met so far; absent without expect.' }),
});

export type FaultRecord = FaultView & Pick<z.infer<typeof faultRecord>, 'expectation'>;

function recordOf(fault: FaultView): FaultRecord {
  if (fault.expect === undefined) return fault;
  const bounds = firingBounds(fault.expect.fired);
  return { ...fault, expectation: { text: firingText(bounds), met: isWithin(fault.fired, bounds) } };
}

const members = z.record(z.string(), z.unknown(), 'must be a JSON object');

/**
 * Schema of a fault in a request. A fault is either JSON, or text in the member `spec`. The text form can have more
 * JSON members, which select requests.
 */
const writtenFault = z.union([faultSchema(), z.looseObject({ spec: z.string() })]);

/**
 * Returns the `ETag` header of the list of registered faults (RFC 9110, section 8.8.3). The value changes whenever the
 * list changes.
 */
function etagOf({ world }: Pick<AdminContext, 'world'>): Readonly<Record<string, string>> {
  return { etag: `"${world.state.faults.revision}"` };
}

export const listFaults = adminRoute({
  path: '/faults',
  summary: 'List the faults: registered ones, and those that requests have carried in a header or a claim',
  query: z.strictObject(listQuery),
  replies: { 200: listOf(faultRecord) },
  handle: async (ctx) => {
    const items = ctx.world.state.faults.list().map(recordOf);
    const { headers, ...reply } = await writeList(ctx, { of: ['faults'], items });
    return { ...reply, headers: { ...headers, ...etagOf(ctx) } };
  },
});

const stageName = z.enum(Object.keys(STAGES) as [Stage, ...Stage[]]);

const keyRecord = z.object({
  key: z.string(),
  about: z.string().meta({ description: 'Meaning of the key.' }),
  wants: z.string().meta({ description: 'Valid values.' }),
  needed: z.boolean(),
  requires: z.string().optional().meta({ description: 'Key that must be given together with this key.' }),
  type: z.enum(['integer', 'number', 'text', 'choice']),
  least: z.number().optional(),
  most: z.number().optional(),
  values: z
    .array(z.string())
    .optional()
    .meta({ description: 'Values that are allowed in addition to those of the type; all values of a choice.' }),
  longest: z.int().optional().meta({ description: 'Maximum number of characters.' }),
  example: z.string(),
  narrows: z.array(z.object({ value: z.string().optional(), stages: z.array(stageName) })).meta({
    description: 'Stages to which the key, or a value of a choice, limits the fault; empty if to none.',
  }),
});

const memberRecord = z.object({
  key: z
    .string()
    .meta({ description: 'Name in the text grammar; followed by a dot and a name if name_of is present.' }),
  label: z.string(),
  hint: z.string(),
  values: z.array(z.string()).optional().meta({ description: 'Values of a choice.' }),
  name_of: z.string().optional().meta({ description: 'Meaning of the name after the dot.' }),
  operations: z
    .array(z.string())
    .optional()
    .meta({ description: 'Operations that can have the member; absent if all can.' }),
});

const faultKinds = z.object({
  grammar: z.string(),
  stages: z.record(z.string(), z.string()),
  items: z.array(
    z.object({
      name: z.string(),
      about: z.string(),
      action: z
        .string()
        .meta({ description: 'Name of this action in the JSON form of a fault: its member of the object `do`.' }),
      status: z.int().optional().meta({ description: 'HTTP status of an error code.' }),
      keys: z.array(keyRecord),
      one_of: z.array(z.string()).meta({ description: 'Keys of which at most one may be given.' }),
      stages: z.array(stageName),
      defaults: z.record(z.string(), stageName).meta({
        description:
          'Default stages: of gitInfoRefs, gitUploadPack and gitReceivePack, and of all other operations as api.',
      }),
      in_band_stages: z.array(stageName).meta({ description: 'Stages that a fault in a header or a claim can have.' }),
      is_of_few: z.boolean().meta({ description: 'True if only operations that list the code can return it.' }),
    }),
  ),
  members: z.array(memberRecord).meta({
    description:
      'Members of every fault in addition to its own keys: which requests it matches, when, and how it is listed.',
  }),
});

export type FaultKinds = z.infer<typeof faultKinds>;

export const listFaultKinds = adminRoute({
  path: '/fault-kinds',
  summary: 'List what faults can do: their names, keys and stages',
  replies: { 200: faultKinds },
  handle: ({ current, buildOnce, operations }) =>
    json(
      200,
      buildOnce('fault-kinds', () => ({
        ...listKinds(current.config.forgePrefix),
        members: listMembers(operations),
      })),
    ),
});

function listMembers(operations: readonly Operation[]): z.infer<typeof memberRecord>[] {
  return MEMBERS.filter(({ mark }) => mark === undefined).map(({ path, label, hint, key, nameOf }) => {
    const member = /^match\.(.+?)(?:\.(?:has|lacks))?$/.exec(path)?.[1];
    const supporting = operations.filter((one) =>
      shapesOf(one).some((shape) => member === undefined || knownFrom(member, shape) !== undefined),
    );
    return {
      key: textKeyOf(path),
      label,
      hint,
      ...(key.form.values && { values: [...key.form.values] }),
      ...(nameOf !== undefined && { name_of: nameOf }),
      ...(supporting.length < operations.length && { operations: supporting.map(({ id }) => id) }),
    };
  });
}

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
  method: 'POST',
  path: '/faults',
  summary: 'Add a fault, in JSON or in the text grammar',
  body: members,
  shownBody: writtenFault,
  replies: { 201: faultRecord },
  errors: ['conflict'],
  handle: (ctx) => {
    const fault = readGivenFault(ctx.body, 'The fault');
    return json(201, recordOf(ctx.world.state.faults.add(fault, ctx.operations)), etagOf(ctx));
  },
});

export const checkFault = adminRoute({
  method: 'POST',
  path: '/fault-checks',
  summary: 'Validate a fault without adding it, and return it in JSON',
  body: members,
  shownBody: writtenFault,
  replies: { 200: z.object({ fault: z.looseObject({}) }) },
  handle: (ctx) => json(200, { fault: readDraft(ctx) }),
});

const faultForms = z.object({
  fault: z.looseObject({}),
  forms: z.array(
    z.object({
      id: z.string(),
      title: z.string(),
      text: z.string().optional(),
      why: z
        .string()
        .optional()
        .meta({ description: 'Reason why the form cannot express the fault; present if text is absent.' }),
      note: z.string().optional(),
    }),
  ),
});

export type FaultForms = z.infer<typeof faultForms>;

export const showFaultForms = adminRoute({
  path: '/faults/{id}/forms',
  summary: 'Write a fault in all its forms: header, claim, command, TypeScript, JSON, scenario step',
  replies: { 200: faultForms },
  handle: (ctx) => {
    const { id } = ctx.params;
    return json(200, writeForms(requireFound(ctx.world.state.faults.definition(id!), 'fault', id), ctx));
  },
});

export const writeFaultForms = adminRoute({
  method: 'POST',
  path: '/faults/forms',
  summary: 'Write a fault that is not added in all its forms',
  body: members,
  shownBody: writtenFault,
  replies: { 200: faultForms },
  handle: (ctx) => json(200, writeForms(readDraft(ctx), ctx)),
});

function readDraft({ world, body, operations }: AdminContext<unknown, z.infer<typeof members>>): Fault {
  const fault = readGivenFault(body, 'The fault');
  world.state.faults.check(fault, operations);
  return fault;
}

function writeForms(fault: Fault, { operations, origin, header }: AdminContext) {
  const hasAdminToken = header('authorization') !== undefined;
  return { fault, forms: formsOf(fault, { operations, origin, hasAdminToken }) };
}

export const replaceFaults = adminRoute({
  method: 'PUT',
  path: '/faults',
  summary: 'Replace all registered faults or none; with If-Match, only if they have not changed',
  body: z.strictObject({ faults: z.array(z.unknown()) }),
  shownBody: z.strictObject({ faults: z.array(writtenFault) }),
  replies: { 200: z.object({ items: z.array(faultRecord) }) },
  errors: ['conflict', 'precondition_failed'],
  handle: async (ctx) => {
    const { faults } = ctx.world.state;
    faults.requireRoom(ctx.body.faults.length);
    const replacements = await runYielding(readFaults(ctx.body.faults), ctx.meter);
    const condition = ctx.header('if-match');
    if (condition !== undefined && condition !== '*' && condition !== etagOf(ctx).etag) {
      throw problem(
        'precondition_failed',
        `If-Match does not match, because the faults have changed. Their current ETag is ${etagOf(ctx).etag}.`,
      );
    }
    return json(200, { items: faults.replaceAll(replacements, ctx.operations).map(recordOf) }, etagOf(ctx));
  },
});

/**
 * Cost of validating one fault, in work units of `Meter`. The meter counts work to know when to yield to the event
 * loop.
 */
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
  path: '/faults/{id}',
  summary: 'Show a fault and its counters',
  replies: { 200: faultRecord },
  handle: ({ world, params: { id } }) => json(200, recordOf(requireFound(world.state.faults.get(id!), 'fault', id))),
});

export const changeFault = adminRoute({
  method: 'PATCH',
  path: '/faults/{id}',
  summary: 'Change members of a registered fault; its counters continue',
  body: members,
  shownBody: faultSchema(),
  replies: { 200: faultRecord },
  errors: ['not_found', 'conflict'],
  handle: (ctx) => {
    const { id } = ctx.params;
    const changed = ctx.world.state.faults.patch(id!, readFault(ctx.body, 'The fault'), ctx.operations);
    return json(200, recordOf(requireFound(changed, 'fault', id)), etagOf(ctx));
  },
});

export const removeFault = adminRoute({
  method: 'DELETE',
  path: '/faults/{id}',
  summary: 'Remove a fault, or the counters of a fault that requests carry',
  replies: { 204: '' },
  handle: ({ world, params: { id } }) => {
    requireFound(world.state.faults.remove(id!), 'fault', id);
    return empty(204);
  },
});

const latchRecord = z.object({ name: z.string(), waiting: z.int() });

export type LatchRecord = z.infer<typeof latchRecord>;

export const listLatches = adminRoute({
  path: '/latches',
  summary: 'List the latches that requests or states wait for, with the number of waiters',
  replies: { 200: z.object({ items: z.array(latchRecord) }) },
  handle: ({ world }) => {
    const items = [...world.background.latches.waiting()].map(([name, waiting]) => ({ name, waiting }));
    return json(200, { items });
  },
});

export const releaseLatch = adminRoute({
  method: 'POST',
  path: '/latches/{name}/release',
  summary: 'Release what a latch holds, and end the states that last until its release',
  replies: { 200: z.object({ released: z.int() }) },
  errors: [],
  handle: ({ world, params }) => json(200, { released: world.releaseLatch(params.name!) }),
});
