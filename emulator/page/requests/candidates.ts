import { ApiError, get, type Page, type QueryValue, route } from '../api/client.js';
import type { Entry } from './entry.js';

/** Request that can be compared with another one. */
export interface Candidate {
  readonly entry: Entry;
  /** Relations to the other request, such as `the retry of this request`. */
  readonly relations: readonly string[];
}

/**
 * Maximum number of requests that are read to find one candidate. The emulator already selects them by target or
 * operation; the page only compares the query and the client.
 */
const MAX_READ = 100;

type Query = Readonly<Record<string, QueryValue>>;

/** Returns requests that match a query, without their bodies. */
type List = (query: Query) => Promise<readonly Entry[]>;

/** Relations between a request and the requests with which users compare it, and how to find them. */
const RELATIONS: readonly {
  readonly relation: string;
  readonly find: (entry: Entry, list: List, signal: AbortSignal) => Promise<Entry | undefined>;
}[] = [
  {
    relation: 'the failed request that this one retries',
    find: async ({ retryOf }, _list, signal) => (retryOf === undefined ? undefined : readIfKept(retryOf, signal)),
  },
  {
    relation: 'the retry of this request',
    find: async (entry, list) => {
      const later = await list({ ...targetOf(entry), after: entry.id, order: 'oldest' });
      return later.find(({ retryOf }) => retryOf === entry.id);
    },
  },
  {
    relation: 'the previous equal request',
    find: async (entry, list) => {
      const earlier = await list({ ...targetOf(entry), before: entry.id, order: 'newest' });
      return earlier.find((other) => isEqualTarget(entry, other));
    },
  },
  {
    relation: 'the next equal request',
    find: async (entry, list) => {
      const later = await list({ ...targetOf(entry), after: entry.id, order: 'oldest' });
      return later.find((other) => isEqualTarget(entry, other));
    },
  },
  {
    relation: 'the last successful request of the operation',
    find: async (entry, list) => {
      if (entry.operation === undefined) return undefined;
      const successes = await list({
        ...clientOf(entry),
        operation: entry.operation,
        status: SUCCESS,
        order: 'newest',
      });
      const others = successes.filter(({ id }) => id !== entry.id);
      return others.find((other) => isSameClient(entry, other)) ?? others[0];
    },
  },
];

/** Value of the filter `status` for statuses below 400. */
const SUCCESS = '1xx,2xx,3xx';

/**
 * Finds the requests with which users compare a request, in the journal of the emulator. A request that has several
 * relations to `entry` occurs once.
 */
export async function findCandidates(entry: Entry, signal: AbortSignal): Promise<readonly Candidate[]> {
  const list: List = async (query) => {
    const page = await get<Page<Entry>>('requests', { query: { ...query, bodies: false, limit: MAX_READ }, signal });
    return page.items;
  };
  const found = await Promise.all(
    RELATIONS.map(async ({ relation, find }) => ({ relation, entry: await find(entry, list, signal) })),
  );
  const candidates = new Map<string, { entry: Entry; relations: string[] }>();
  for (const { relation, entry: other } of found) {
    if (other === undefined) continue;
    const candidate = candidates.get(other.id);
    if (candidate) candidate.relations.push(relation);
    else candidates.set(other.id, { entry: other, relations: [relation] });
  }
  return [...candidates.values()];
}

/** Reads a request. Returns undefined if the journal no longer has it. */
async function readIfKept(id: string, signal: AbortSignal): Promise<Entry | undefined> {
  try {
    return await get<Entry>(route`requests/${id}`, { signal });
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

function targetOf(entry: Entry): Query {
  const { method, path, operation } = entry;
  return { ...clientOf(entry), method, path, operation };
}

/** Returns the filters for requests of the same client. The emulator filters only by claims of verified tokens. */
function clientOf({ organization, subject, repository }: Entry): Query {
  return { organization, subject, repository };
}

function isEqualTarget(entry: Entry, other: Entry): boolean {
  return entry.query === other.query && isSameClient(entry, other);
}

/** A client is an organization with the claims `sub` and `repo` of the token, verified or not. */
function isSameClient(entry: Entry, other: Entry): boolean {
  return clientKey(entry) === clientKey(other);
}

function clientKey({ organization, token }: Entry): string {
  return JSON.stringify([organization, token?.subject, token?.repository]);
}
