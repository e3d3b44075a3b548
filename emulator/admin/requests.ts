import { z } from 'zod';
import { problem } from '../http/problem.js';
import { empty, json, type Reply, stream } from '../http/reply.js';
import { toHar, toNdjson } from '../journal/export.js';
import { type RequestQuery, readQueryParameters, selectorOf } from '../journal/query.js';
import type { RequestRecord } from '../journal/record.js';
import { STEPS, type StepId } from '../journal/steps.js';
import { listOf, listQuery, writeList } from './lists.js';
import { streamRequests } from './request-stream.js';
import { type AdminContext, adminRoute } from './route.js';

const stepId = z.enum(Object.keys(STEPS) as [StepId, ...StepId[]]);

const requestRecord = z.looseObject({
  id: z.string(),
  at: z.iso.datetime(),
  method: z.string(),
  path: z.string(),
  status: z.int(),
  origin: z.string(),
  why: z.array(z.string()),
  stopped: stepId.optional().meta({ description: 'The step that refused it; absent where the operation answered.' }),
});

export const listSteps = adminRoute({
  id: 'listSteps',
  method: 'GET',
  path: '/steps',
  summary: 'List the steps of the way of a request, in order',
  access: 'token',
  replies: { 200: z.object({ items: z.array(z.object({ id: stepId, about: z.string() })) }) },
  handle: () => json(200, { items: Object.entries(STEPS).map(([id, about]) => ({ id, about })) }),
});

const SEVERAL = 'Several between commas: any of them.';

/** The members of a query as parameters; `journal/query.ts` says what each can be. */
const selection = {
  after: z.string().optional().meta({ description: 'Id of a request: those that came after it.' }),
  organization: z.string().optional(),
  method: z.string().optional(),
  operation: z
    .string()
    .optional()
    .meta({ description: `An id, or git* for all that begin so. ${SEVERAL}` }),
  path: z.string().optional(),
  repository: z.string().optional(),
  subject: z.string().optional(),
  status: z
    .string()
    .optional()
    .meta({ description: `A status, or a class such as 4xx. ${SEVERAL}` }),
  code: z.string().optional().meta({ description: SEVERAL }),
  origin: z.string().optional().meta({ description: 'real, state, injected or injected:<fault>.' }),
  fault: z.string().optional(),
  outcome: z.string().optional().meta({ description: 'open, complete, cut or gone.' }),
  since: z.string().optional(),
  until: z.string().optional(),
  'git.phase': z.string().optional(),
  'git.service': z.string().optional(),
  'git.command': z.string().optional(),
  'git.ref': z.string().optional(),
};

type Selection = { readonly [Name in keyof typeof selection]?: string | undefined };

/** Throws `bad_request` that names the parameter. */
function readSelection(given: Selection): RequestQuery {
  return readQueryParameters(Object.entries(given).filter((each): each is [string, string] => each[1] !== undefined));
}

export const listRequests = adminRoute({
  id: 'listRequests',
  method: 'GET',
  path: '/requests',
  summary: 'List the requests that were answered, oldest first: in pages, or all of them as NDJSON or HAR',
  access: 'token',
  query: z.strictObject({
    ...listQuery,
    ...selection,
    format: z.enum(['json', 'ndjson', 'har'], 'has to be json, ndjson or har').optional(),
  }),
  replies: { 200: listOf(requestRecord) },
  handle: (ctx) => {
    const { cursor, limit, format = 'json', ...given } = ctx.query;
    const query = readSelection(given);
    if (format !== 'json') return exportRequests(ctx, selectorOf(query), format);
    const { journal } = ctx.world.state;
    const select = selectorOf(query);
    return writeList<RequestRecord>(
      { ...ctx, query: { cursor, limit } },
      {
        of: ['requests', query],
        items: [...journal.records()].filter(select),
        keyOf: ({ id }) => id,
        // Those before them say which of them repeat a request.
        showPage: (page) => {
          const shown = new Set(page);
          return journal.entries((record) => shown.has(record));
        },
      },
    );
  },
});

const EXPORTS = {
  ndjson: { type: 'application/x-ndjson', write: toNdjson },
  har: { type: 'application/json', write: toHar },
} as const;

function exportRequests(
  { world }: AdminContext,
  select: (record: RequestRecord) => boolean,
  format: keyof typeof EXPORTS,
): Reply {
  const { type, write } = EXPORTS[format];
  return { status: 200, pieces: write(world.state.journal.entries(select)), headers: { 'content-type': type } };
}

export const followRequests = adminRoute({
  id: 'followRequests',
  method: 'GET',
  path: '/requests/stream',
  summary: 'Send each request as an event as soon as its answer has ended; goes on behind Last-Event-ID',
  access: 'token',
  query: z.strictObject(selection),
  replies: { 200: 'text/event-stream' },
  handle: ({ current, controls, query, signal, header }) => {
    const after = readLastId(header('last-event-id'));
    const ended = AbortSignal.any([signal, controls.closing]);
    const events = streamRequests(current, { after, query: readSelection(query), signal: ended });
    return stream(200, events, { 'content-type': 'text/event-stream' });
  },
});

function readLastId(given: string | undefined): number | undefined {
  if (given === undefined || given === '') return undefined;
  if (/^\d{1,15}$/.test(given)) return Number(given);
  throw problem('bad_request', 'Last-Event-ID has to be the id of an event, a whole number.');
}

export const showRequest = adminRoute({
  id: 'showRequest',
  method: 'GET',
  path: '/requests/{id}',
  summary: 'Show one request',
  access: 'token',
  replies: { 200: requestRecord },
  errors: ['not_found'],
  handle: ({ world, params }) => {
    const entry = world.state.journal.entry(params.id!);
    if (entry) return json(200, entry);
    throw problem('not_found', `There is no request ${JSON.stringify(params.id)} in the journal.`);
  },
});

export const forgetRequests = adminRoute({
  id: 'forgetRequests',
  method: 'DELETE',
  path: '/requests',
  summary: 'Empty the journal; requests are numbered on',
  access: 'token',
  replies: { 204: '' },
  handle: ({ world }) => {
    world.state.journal.clear();
    return empty(204);
  },
});
