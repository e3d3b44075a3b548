import { silentLog } from '../environment/log.js';
import { summaryOf } from '../journal/entry.js';
import type { RequestRecord } from '../journal/record.js';
import type { World } from '../world/world.js';

/** Adds the line of a request to the journal and to the log. */
export function recordRequest({ state, engine: { log } }: World, record: RequestRecord): void {
  state.journal.add(record);
  if (log !== silentLog) log.write({ event: 'request', ...summaryOf(record) });
}
