import { silentLog } from '../environment/log.js';
import { type JournalRecord, journalEntry } from '../world/journal.js';
import type { World } from '../world/world.js';

/** Adds the line of a request to the journal and to the log. */
export function recordRequest({ state, engine: { log } }: World, record: JournalRecord): void {
  state.journal.add(record);
  if (log !== silentLog) log.write({ event: 'request', ...journalEntry(record) });
}
