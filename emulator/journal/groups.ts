import { COST } from '../schedule/cost.js';
import type { Steps } from '../schedule/steps.js';
import { type Member, VALUES } from './query.js';
import type { RequestRecord } from './record.js';

/** Members of a query by which requests can be grouped. Each has one value per request. @internal */
export const GROUP_MEMBERS = [
  'organization',
  'method',
  'operation',
  'path',
  'repository',
  'subject',
  'userAgent',
  'status',
  'code',
  'origin',
  'failed',
  'outcome',
] as const satisfies readonly Member[];

export type GroupMember = (typeof GROUP_MEMBERS)[number];

/** Requests that have the same values of some members. */
export interface RequestGroup {
  /** Number of requests. */
  readonly count: number;
  /** Id of the newest request. */
  readonly last: string;
  /** Value of each member by which the requests are grouped; null if the requests have none. */
  readonly values: { readonly [Name in GroupMember]?: string | number | boolean | null };
}

/** Number of records that are examined between two steps. */
const SLICE = 64;

/**
 * Groups the records that `select` accepts by the values of the members `by`. Returns the groups with the most requests
 * first; among equals, the group with the newest request. @internal
 */
export function* groupSteps(
  records: Iterable<RequestRecord>,
  select: (record: RequestRecord) => boolean,
  by: readonly GroupMember[],
): Steps<RequestGroup[]> {
  const groups = new Map<string, { count: number; last: string; values: RequestGroup['values'] }>();
  let examined = 0;
  for (const record of records) {
    examined += 1;
    if (examined % SLICE === 0) yield SLICE * COST.object;
    if (!select(record)) continue;
    const values = by.map((member) => VALUES[member](record) ?? null);
    const key = JSON.stringify(values);
    const group = groups.get(key);
    if (group === undefined) {
      const named = Object.fromEntries(by.map((member, at) => [member, values[at]]));
      groups.set(key, { count: 1, last: record.id, values: named });
    } else {
      group.count += 1;
      group.last = record.id;
    }
  }
  yield groups.size * COST.entry;
  // Ids have the same length, so their alphabetical order is the order in which the responses were decided.
  return [...groups.values()].sort((a, b) => b.count - a.count || (a.last < b.last ? 1 : -1));
}
