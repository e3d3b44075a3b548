import { problem } from '../http/problem.js';
import type { Journal } from './journal.js';
import { type RequestQuery, selectorOf } from './query.js';
import type { RequestRecord } from './record.js';

export interface PageOptions {
  readonly query?: RequestQuery;
  /** Default: `oldest`. */
  readonly order?: 'oldest' | 'newest' | undefined;
  /** `next` of the page before. */
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
}

export interface JournalPage {
  readonly records: readonly RequestRecord[];
  /** Where the next page begins; undefined where there is none. */
  readonly next: string | undefined;
}

/** Requests in one page: as many as there are by default, and at most. */
const USUAL = 100;
const MOST = 1000;

/**
 * Requests in the order in which they were answered, or the other way round, page by page. Each page looks only at those
 * from its cursor on. Throws `bad_request` for an invalid limit or cursor.
 */
export function readPage(journal: Journal, { query, order, cursor, limit = USUAL }: PageOptions = {}): JournalPage {
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > MOST) {
    throw problem('bad_request', `limit: has to be a whole number from 1 to ${MOST}.`);
  }
  if (cursor !== undefined && !/^\d{1,15}$/.test(cursor)) {
    throw problem('bad_request', 'cursor: has to be the next_cursor of an answer.');
  }
  const isWanted = selectorOf(query);
  const from = cursor === undefined ? undefined : Number(cursor);
  const records: RequestRecord[] = [];
  for (const record of order === 'newest' ? journal.newestFirst(from) : journal.records(from)) {
    if (!isWanted(record)) continue;
    if (records.length === limit) return { records, next: String(records.at(-1)!.sequence) };
    records.push(record);
  }
  return { records, next: undefined };
}
