import type { JournalEntry } from '../journal/entry.js';
import type { Journal } from '../journal/journal.js';
import type { RequestRecord } from '../journal/record.js';

/** Maximum number of event streams of one port. Each costs every request of the port some 10 µs. */
export const MOST_STREAMS = 100;

/** The event streams of one port. All of them send the same bytes for the same request, which are made once. */
export class EventStreams {
  #open = 0;
  /** The request that a stream sent last, with bodies (true) and without (false). */
  readonly #last = new Map<boolean, { readonly record: RequestRecord; readonly entry: JournalEntry; event?: Buffer }>();

  get isFull(): boolean {
    return this.#open >= MOST_STREAMS;
  }

  /** Counts a stream as open until the returned function is called. */
  open(): () => void {
    this.#open++;
    return () => {
      this.#open--;
    };
  }

  /** Returns the journal entry of a record whose response has ended. */
  entryOf(journal: Journal, record: RequestRecord, bodies: boolean): JournalEntry {
    let last = this.#last.get(bodies);
    if (last?.record !== record) {
      last = { record, entry: journal.write(record, { bodies }) };
      this.#last.set(bodies, last);
    }
    return last.entry;
  }

  /** Returns the bytes of the event of an entry. */
  eventOf({ id, entry }: { readonly id: number; readonly entry: JournalEntry }): Buffer {
    const write = () => event({ id, name: 'request', data: entry });
    for (const last of this.#last.values()) {
      if (last.entry !== entry) continue;
      last.event ??= write();
      return last.event;
    }
    return write();
  }
}

/** Returns the bytes of one server-sent event. */
export function event({ id, name, data }: { id?: number; name: string; data: unknown }): Buffer {
  const mark = id === undefined ? '' : `id: ${id}\n`;
  return Buffer.from(`${mark}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
}
