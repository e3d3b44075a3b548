import { summaryOf } from '../journal/entry.js';
import type { RequestRecord } from '../journal/record.js';
import { NO_HEAD } from '../journal/redaction.js';
import { errorLog } from '../log/log.js';
import type { World } from '../world/world.js';

type Known = Pick<RequestRecord, 'id' | 'time' | 'origin' | 'faults' | 'why'> & Partial<RequestRecord>;

/** The record of what was no request that could be read. */
export function emptyRecord(known: Known): RequestRecord {
  return {
    took: 0,
    organization: undefined,
    method: '',
    path: '',
    query: '',
    version: '1.1',
    operation: undefined,
    status: 0,
    code: undefined,
    token: undefined,
    stopped: undefined,
    git: undefined,
    head: NO_HEAD,
    weight: 0,
    body: undefined,
    answerHead: undefined,
    answer: undefined,
    outcome: 'open',
    started: performance.now(),
    micros: 0,
    sendTime: 0,
    sequence: 0,
    ended: 0,
    retryOf: undefined,
    ...known,
  };
}

/** Adds the line of a request to the journal and to the log. */
export function recordRequest({ state, engine: { log } }: World, record: RequestRecord): void {
  state.journal.add(record);
  if (log !== errorLog) log.write({ event: 'request', ...summaryOf(record) });
}
