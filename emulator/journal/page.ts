import { problem } from '../http/problem.js';
import type { JournalEntry } from './entry.js';
import type { Journal } from './journal.js';
import { type RequestQuery, selectorOf } from './query.js';

export interface PageOptions {
  readonly query?: RequestQuery;
  /** `next` of the page before. */
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
}

export interface JournalPage {
  readonly items: readonly JournalEntry[];
  /** Where the next page begins; undefined where there is none. */
  readonly next: string | undefined;
}

/** Requests in one page: as many as there are by default, and at most. */
const USUAL = 100;
const MOST = 1000;

/** Requests in the order in which they were answered, page by page. Throws `bad_request` for a limit or a cursor that is none. */
export function readPage(journal: Journal, { query, cursor = '0', limit = USUAL }: PageOptions = {}): JournalPage {
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > MOST) {
    throw problem('bad_request', `limit: has to be a whole number from 1 to ${MOST}.`);
  }
  if (!/^\d{1,15}$/.test(cursor)) throw problem('bad_request', 'cursor: has to be the next_cursor of an answer.');
  const isWanted = selectorOf(query);
  const from = Number(cursor);
  let last = from;
  let found = 0;
  const items = [
    ...journal.entries((record) => {
      if (record.sequence <= from || found > limit || !isWanted(record)) return false;
      found += 1;
      if (found > limit) return false;
      last = record.sequence;
      return true;
    }),
  ];
  return { items, next: found > limit ? String(last) : undefined };
}
