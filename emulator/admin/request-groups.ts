import { z } from 'zod';
import { problem } from '../http/problem.js';
import { GROUP_MEMBERS, type GroupMember, groupSteps, type RequestGroup } from '../journal/groups.js';
import { queryParameters, readQueryParameters, selectorOf } from '../journal/query.js';
import { runYielding } from '../schedule/steps.js';
import { listOf, listQuery, writeList } from './lists.js';
import { adminRoute } from './route.js';

export type { RequestGroup } from '../journal/groups.js';

const requestGroup = z.object({
  count: z.int(),
  last: z.string().meta({ description: 'Id of the newest request of the group.' }),
  values: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))
    .meta({ description: 'Value of each member of by; null if the requests have none.' }),
});

/** Members by which requests are grouped by default. They show which errors a client got from which operation. */
const USUAL: readonly GroupMember[] = ['status', 'code', 'outcome', 'operation', 'userAgent'];

export const listRequestGroups = adminRoute({
  path: '/requests/groups',
  summary:
    'Count the requests of the journal that match a filter, grouped by status, code, outcome, operation and user agent',
  query: z.strictObject({
    ...listQuery,
    ...queryParameters(),
    by: z
      .string()
      .optional()
      .meta({
        description: `Comma-separated members by which requests are grouped: ${GROUP_MEMBERS.join(', ')}. Default: ${USUAL.join(',')}.`,
      }),
  }),
  replies: { 200: listOf(requestGroup) },
  handle: async (ctx) => {
    const { cursor, limit, by: given, ...rest } = ctx.query;
    const query = readQueryParameters(rest);
    const by = given === undefined ? USUAL : readMembers(given);
    const { journal } = ctx.world.state;
    const items = await runYielding(groupSteps(journal.records(), selectorOf(query), by), ctx.meter);
    const keyOf = ({ values }: RequestGroup) => JSON.stringify(values);
    return writeList(ctx, { of: ['requests/groups', query, by], items, keyOf });
  },
});

function readMembers(text: string): GroupMember[] {
  const isMember = (name: string): name is GroupMember => (GROUP_MEMBERS as readonly string[]).includes(name);
  return text.split(',').map((name) => {
    if (isMember(name)) return name;
    throw problem('bad_request', `by: ${JSON.stringify(name)} must be one of ${GROUP_MEMBERS.join(', ')}.`);
  });
}
