import { useEffect, useReducer, useState } from 'preact/hooks';
import { get, type Page } from '../api/client.js';
import { followRequests, type StreamEvent, type StreamState } from '../api/stream.js';
import { type Entry, holdsText, type Row, rowOf } from './entry.js';
import type { Filter } from './filter.js';
import { RowList } from './row-list.js';

/** Maximum number of rows kept. */
export const MAX_ROWS = 20_000;

/** Number of requests read from the journal at a time. */
const ASKED_AT_ONCE = 500;

/** Members of `GET requests` besides the items. */
interface JournalPage extends Page<Entry> {
  readonly dropped: number;
  readonly last_event_id: number;
}

/** Requests that match a filter, updated live. */
export class LiveRequests {
  readonly list = new RowList<Row>(MAX_ROWS);
  /** Number of requests that the journal had dropped, and number of stream events that were missed. */
  gone = 0;
  missed = 0;
  /** True if the state was reset meanwhile. The rows then belong to the new state. */
  isReset = false;
  /** True when the newest requests of the journal are shown. */
  isSettled = false;
  /** True if the journal has requests older than the first row that are not shown. */
  hasOlder = false;
  state: StreamState | 'connecting' = 'connecting';
  /** Error of the emulator, for example for an invalid filter; undefined if none. */
  error: unknown;
  private last = 0;
  /** True while older requests are being read. */
  private isGoingBack = false;
  /** Ids of requests that the stream delivered while older ones were being read, which may contain them too. */
  private readonly told = new Set<string>();

  constructor(private readonly text: string | undefined) {}

  /** Adds the newest requests of the journal. The stream continues after them. */
  begin(page: JournalPage): void {
    this.gone = page.dropped;
    this.last = page.last_event_id;
    this.isSettled = true;
    this.takeOlder(page);
  }

  /** Adds a part of the journal, newest first. Returns false if there is no space for another part. */
  takeOlder({ items, has_more: hasMore }: JournalPage): boolean {
    // A request that is still open is delivered by the stream when it ends.
    const ended = items.filter(({ id, outcome }) => outcome !== 'open' && !this.told.has(id));
    const isKept = ended.every((entry) => this.isHidden(rowOf(entry)) || this.list.addOlder(rowOf(entry)));
    this.hasOlder = (hasMore || !isKept) && !this.list.isCleared;
    this.isGoingBack = hasMore && isKept;
    if (!this.isGoingBack) this.told.clear();
    return this.isGoingBack;
  }

  take(events: readonly StreamEvent[]): void {
    for (const { name, id, data } of events) {
      // A restarted emulator counts from 1 again.
      if (name === 'reset' || (id !== undefined && id <= this.last)) this.restart();
      if (id !== undefined) this.last = id;
      if (name === 'missed') this.missed += (data as { missed: number }).missed;
      else if (name === 'request') this.add(rowOf(data as Entry));
    }
  }

  private add(row: Row): void {
    if (this.isGoingBack) this.told.add(row.id);
    if (!this.isHidden(row)) this.list.add(row);
  }

  private isHidden(row: Row): boolean {
    return this.text !== undefined && !holdsText(row, this.text);
  }

  private restart(): void {
    this.list.clear();
    this.gone = 0;
    this.missed = 0;
    this.hasOlder = false;
    this.isReset = true;
  }
}

export function useLiveRequests(filter: Filter): LiveRequests {
  const [, redraw] = useReducer((times: number) => times + 1, 0);
  const key = JSON.stringify(filter);
  const [followed, setFollowed] = useState(() => new LiveRequests(filter.text));
  useEffect(() => {
    const { text, ...query } = filter;
    const followed = new LiveRequests(text);
    setFollowed(followed);
    const abort = new AbortController();
    const { signal } = abort;
    let frame = 0;
    // Render at most once per frame, however many requests arrive.
    const change = () => {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        redraw(undefined);
      });
    };
    const ask = (cursor?: string) =>
      get<JournalPage>('requests', {
        query: { ...query, order: 'newest', bodies: false, limit: ASKED_AT_ONCE, cursor },
        signal,
      });
    const begin = async (): Promise<string> => {
      const page = await ask();
      followed.begin(page);
      change();
      void goBack(page);
      return String(page.last_event_id);
    };
    /** Reads the rest of the journal, as far as there is space for rows. A failure leaves older requests unread. */
    const goBack = async (from: JournalPage): Promise<void> => {
      try {
        for (let page = from; page.next_cursor !== null; ) {
          page = await ask(page.next_cursor);
          const isRoom = followed.takeOlder(page);
          change();
          if (!isRoom) return;
        }
      } catch {}
    };
    followRequests({
      query: { ...query, bodies: false },
      after: begin,
      signal,
      onEvents: (events) => {
        followed.take(events);
        change();
      },
      onState: (state) => {
        followed.state = state;
        change();
      },
    }).catch((error: unknown) => {
      if (signal.aborted) return;
      followed.error = error;
      change();
    });
    return () => {
      abort.abort();
      cancelAnimationFrame(frame);
    };
  }, [key]);
  return followed;
}
