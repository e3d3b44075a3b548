import { Journal } from '../journal.js';
import type { RequestRecord } from '../record.js';
import { recordOf } from './record.js';

/** Journal of recorded requests. `reads` counts how often properties of the records are read, as a measure of work. */
export interface WatchedJournal {
  readonly journal: Journal;
  readonly reads: { count: number };
  /** Adds the record of a request whose response has ended. */
  add(given?: Partial<RequestRecord>): RequestRecord;
}

/** Creates a journal with `entries` records. It can hold up to `max` records. */
export function watchedJournal(
  entries: number,
  make: (at: number) => Partial<RequestRecord> = () => ({}),
  max = entries + 10_000,
): WatchedJournal {
  const journal = new Journal({ entries: max, bytes: 1e9, key: Buffer.from('key') });
  const reads = { count: 0 };
  let added = 0;
  const add = (given: Partial<RequestRecord> = {}): RequestRecord => {
    const record = recordOf(++added, { started: added, ...given });
    const watched = new Proxy(record, {
      get(target, name) {
        reads.count += 1;
        return Reflect.get(target, name);
      },
    });
    journal.add(watched);
    journal.end(watched, record.outcome === 'open' ? 'complete' : record.outcome);
    return watched;
  };
  for (let at = 0; at < entries; at++) add(make(at));
  reads.count = 0;
  return { journal, reads, add };
}
