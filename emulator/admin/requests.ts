import { z } from 'zod';
import { mapped, openList, pageEnd, readLimit } from '../api/paging.js';
import { problem } from '../http/problem.js';
import { empty, json, largeJson, type Reply, stream } from '../http/reply.js';
import type { EntryOptions } from '../journal/entry.js';
import { toHar, toNdjson } from '../journal/export.js';
import { queryParameters, readQueryParameters, selectorOf } from '../journal/query.js';
import type { RequestRecord } from '../journal/record.js';
import { type SlowestOptions, type SlowPosition, slowestSteps, slowPositionOf } from '../journal/slowest.js';
import { STEPS, type StepId } from '../journal/steps.js';
import { runYielding } from '../schedule/steps.js';
import { MAX_STREAMS, streamRequests } from './event-streams.js';
import { LIST_SIZE, listQuery } from './lists.js';
import { type AdminContext, adminRoute } from './route.js';
import { exportScenario } from './scenario-export.js';

export type { JournalEntry } from '../journal/entry.js';

const stepId = z.enum(Object.keys(STEPS) as [StepId, ...StepId[]]);

const members = z.record(z.string(), z.unknown()).optional();

const requestRecord = z.looseObject({
  id: z.string(),
  at: z.iso.datetime(),
  method: z.string(),
  path: z.string(),
  status: z.int(),
  origin: z.string(),
  why: z.array(z.string()),
  token: z
    .looseObject({
      verified: z.boolean(),
      header: members.meta({ description: 'Members of the JOSE header of the token, such as alg and kid.' }),
      claims: members.meta({ description: 'All claims of the token. The signature is never recorded.' }),
    })
    .optional(),
  started: z.number().meta({
    description:
      'Start of the request in real time, in milliseconds since the emulator was started. The clock of the emulator does not affect it.',
  }),
  duration: z.number().meta({
    description: 'Time from the start of the request to the end of the response, in milliseconds of real time.',
  }),
  stopped: stepId
    .optional()
    .meta({ description: 'Step that refused the request; absent if the operation handled it.' }),
});

export const listSteps = adminRoute({
  path: '/steps',
  summary: 'List the steps that a request passes through, in order',
  replies: { 200: z.object({ items: z.array(z.object({ id: stepId, about: z.string() })) }) },
  handle: () => json(200, { items: Object.entries(STEPS).map(([id, about]) => ({ id, about })) }),
});

const bodies = z
  .enum(['true', 'false'], 'must be true or false')
  .optional()
  .meta({ description: 'false to omit the bodies of requests and responses.' });

const requestList = z.object({
  items: z.array(requestRecord),
  ...pageEnd(),
  dropped: z.int().meta({ description: 'Number of earlier requests that the journal no longer has.' }),
  last_event_id: z.int().meta({ description: 'Last-Event-ID with which requests/stream continues after this list.' }),
});

export const listRequests = adminRoute({
  path: '/requests',
  summary: 'List the requests whose response has ended: in parts, or all of them as NDJSON, HAR or a scenario',
  query: z.strictObject({
    ...listQuery,
    ...queryParameters(),
    order: z.enum(['oldest', 'newest', 'slowest'], 'must be oldest, newest or slowest').optional().meta({
      description:
        'Requests that come first; default oldest. slowest leaves out requests whose response has not ended. NDJSON and HAR always begin with the oldest.',
    }),
    bodies,
    format: z
      .enum(['json', 'ndjson', 'har', 'scenario'], 'must be json, ndjson, har or scenario')
      .optional()
      .meta({ description: 'scenario: YAML of a scenario that reproduces the failures of the requests.' }),
  }),
  replies: { 200: requestList },
  handle: async (ctx) => {
    const { cursor, limit, order = 'oldest', bodies: shown, format = 'json', ...given } = ctx.query;
    const query = readQueryParameters(given);
    const options = { bodies: shown !== 'false' };
    if (format === 'scenario') return exportScenario(ctx, selectorOf(query));
    if (format !== 'json') return exportRequests(ctx, selectorOf(query), options, format);
    const { journal } = ctx.world.state;
    const list = openList<SlowPosition>(ctx, { cursor }, ['admin', 'requests', query, order]);
    const part = { select: selectorOf(query), after: list.position, limit: readLimit(limit, LIST_SIZE) };
    const { page, hasMore } =
      order === 'slowest'
        ? await runYielding(slowestSteps(journal.records(), part), ctx.meter)
        : takePart(order === 'newest' ? journal.newestFirst(part.after?.[1]) : journal.records(part.after?.[1]), part);
    return largeJson(200, {
      items: mapped(page, (record) => journal.write(record, options)),
      ...list.end(hasMore, () => slowPositionOf(page.at(-1)!)),
      dropped: journal.dropped,
      last_event_id: journal.ended,
    });
  },
});

function takePart(records: Iterable<RequestRecord>, { select, limit }: Pick<SlowestOptions, 'select' | 'limit'>) {
  const page: RequestRecord[] = [];
  for (const record of records) {
    if (!select(record)) continue;
    if (page.length === limit) return { page, hasMore: true };
    page.push(record);
  }
  return { page, hasMore: false };
}

const EXPORTS = {
  ndjson: { type: 'application/x-ndjson', write: toNdjson },
  har: { type: 'application/json', write: toHar },
} as const;

function exportRequests(
  { world }: AdminContext,
  select: (record: RequestRecord) => boolean,
  options: EntryOptions,
  format: keyof typeof EXPORTS,
): Reply {
  const { type, write } = EXPORTS[format];
  const { journal } = world.state;
  return {
    status: 200,
    pieces: write(journal.entries(select, options), journal.dropped),
    headers: { 'content-type': type, 'x-emulator-dropped': String(journal.dropped) },
  };
}

const TOO_MANY = `This port already serves ${MAX_STREAMS} event streams, the maximum. Close one, or list the requests with GET /_emulator/requests.`;

export const followRequests = adminRoute({
  path: '/requests/stream',
  summary: 'Send each request as an event as soon as its response has ended; continues after Last-Event-ID',
  query: z.strictObject({ ...queryParameters(), bodies }),
  replies: { 200: 'text/event-stream' },
  errors: ['service_unavailable'],
  handle: ({ current, controls, query: { bodies: shown, ...given }, signal, header, streams }) => {
    if (streams.isFull) throw problem('service_unavailable', TOO_MANY);
    const after = readLastId(header('last-event-id'));
    const ended = AbortSignal.any([signal, controls.closing]);
    const query = readQueryParameters(given);
    const events = streamRequests(current, { after, query, bodies: shown !== 'false', signal: ended, streams });
    return stream(200, events, { 'content-type': 'text/event-stream' });
  },
});

function readLastId(given: string | undefined): number | undefined {
  if (given === undefined || given === '') return undefined;
  if (/^\d{1,15}$/.test(given)) return Number(given);
  throw problem('bad_request', 'Last-Event-ID must be the id of an event of this stream, which is a whole number.');
}

export const showRequest = adminRoute({
  path: '/requests/{id}',
  summary: 'Show one request',
  replies: { 200: requestRecord },
  handle: ({ world, params }) => {
    const entry = world.state.journal.entry(params.id!);
    if (entry) return json(200, entry);
    throw problem(
      'not_found',
      `The journal has no request with the id ${JSON.stringify(params.id)}. It may have been dropped (--max-journal).`,
    );
  },
});

export const forgetRequests = adminRoute({
  method: 'DELETE',
  path: '/requests',
  summary: 'Empty the journal; the numbers of requests continue',
  replies: { 204: '' },
  handle: ({ world }) => {
    world.state.journal.clear();
    return empty(204);
  },
});
