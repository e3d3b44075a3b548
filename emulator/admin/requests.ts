import { z } from 'zod';
import { problem } from '../http/problem.js';
import { empty, json, stream } from '../http/reply.js';
import type { JournalEntry } from '../world/journal.js';
import { type ListQuery, listOf, listQuery, writeList } from './lists.js';
import { streamRequests } from './request-stream.js';
import { type AdminContext, adminRoute } from './route.js';

const requestRecord = z.looseObject({
  id: z.string(),
  at: z.iso.datetime(),
  method: z.string(),
  path: z.string(),
  status: z.int(),
  origin: z.string(),
  why: z.array(z.string()),
});

/** Members of an entry that a query can ask for; a parameter that is absent selects all. */
const selection = {
  organization: z.string().optional(),
  method: z.string().optional(),
  operation: z.string().optional(),
  repository: z.string().optional(),
  subject: z.string().optional(),
  status: z
    .string()
    .regex(/^[1-5]\d\d$/, 'has to be a status such as 409')
    .transform(Number)
    .optional(),
  code: z.string().optional(),
  origin: z.string().optional(),
};

export const listRequests = adminRoute({
  id: 'listRequests',
  method: 'GET',
  path: '/requests',
  summary: 'List the requests that were answered, oldest first',
  access: 'token',
  query: z.strictObject({ ...listQuery, ...selection, after: z.string().optional() }),
  replies: { 200: listOf(requestRecord) },
  handle: (ctx) => {
    const { cursor: _, limit: __, after, ...members } = ctx.query;
    const wanted = Object.entries(members).filter(([, value]) => value !== undefined);
    const entries = [...ctx.world.state.journal.entries()].filter(
      // Ids are numbers of one width: their order is that of arrival.
      (entry) =>
        (after === undefined || entry.id > after) && wanted.every(([name, value]) => memberOf(entry, name) === value),
    );
    return writeList(ctx as AdminContext<ListQuery>, {
      of: ['requests', after, wanted],
      items: entries,
      keyOf: ({ id }) => id,
      show: (entry) => entry,
    });
  },
});

function memberOf(entry: JournalEntry, name: string): unknown {
  return entry[name as keyof JournalEntry];
}

export const followRequests = adminRoute({
  id: 'followRequests',
  method: 'GET',
  path: '/requests/stream',
  summary: 'Send each request as an event as soon as it was answered; goes on behind Last-Event-ID',
  access: 'token',
  query: z.strictObject({}),
  replies: { 200: 'text/event-stream' },
  handle: ({ current, controls, signal, header }) => {
    const ended = AbortSignal.any([signal, controls.closing]);
    return stream(200, streamRequests(current, ended, header('last-event-id')), {
      'content-type': 'text/event-stream',
    });
  },
});

export const showRequest = adminRoute({
  id: 'showRequest',
  method: 'GET',
  path: '/requests/{id}',
  summary: 'Show one request',
  access: 'token',
  replies: { 200: requestRecord },
  errors: ['not_found'],
  handle: ({ world, params }) => {
    for (const entry of world.state.journal.entries()) if (entry.id === params.id) return json(200, entry);
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
    world.state.journal.restore([]);
    return empty(204);
  },
});
