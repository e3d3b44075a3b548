import { summaryOf } from '../journal/entry.js';
import { type KnownFacts, type RequestRecord, recordWith } from '../journal/record.js';
import { errorLog } from '../log/log.js';
import type { World } from '../world/world.js';

/** Adds a request to the log and to the journal (list of all requests, for tests). Returns its journal record. */
export function recordRequest({ state, engine: { log } }: World, known: KnownFacts): RequestRecord {
  const record = recordWith(known);
  state.journal.add(record);
  if (log !== errorLog) log.write({ event: 'request', ...summaryOf(record) });
  return record;
}
