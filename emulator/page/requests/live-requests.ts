import { useEffect, useReducer, useState } from 'preact/hooks';
import { get, type Page } from '../api/client.js';
import { followRequests, type StreamEvent, type StreamState } from '../api/stream.js';
import { type Entry, holdsText, type Row, rowOf } from './entry.js';
import type { Filter } from './filter.js';
import { RowList } from './row-list.js';

/** Maximum number of requests that the list keeps in memory. */
export const MAX_ROWS = 20_000;

/** Number of requests that the page reads from the emulator's journal (list of past requests) with one request. */
const ASKED_AT_ONCE = 500;

/** Response of `GET requests`: a part of the journal, the number of dropped requests, and the id of the last event. */
interface JournalPage extends Page<Entry> {
  readonly dropped: number;
  readonly last_event_id: number;
}

/** Requests to the emulator that match a filter: those of the journal, and new ones from an event stream. */
export class LiveRequests {
  readonly list = new RowList<Row>(MAX_ROWS);
  /** Number of old requests that the journal no longer contains, and number of stream events that were not received. */
  gone = 0;
  missed = 0;
  /** True if the emulator was reset while the page was open. All rows then belong to the time after the reset. */
  isReset = false;
  /** True as soon as the newest requests of the journal are in the list. */
  isSettled = false;
  /** True if the journal has older requests than the oldest row of the list. */
  hasOlder = false;
  state: StreamState | 'connecting' = 'connecting';
  /** Error with which the emulator refused the request list, for example for an invalid filter; undefined if none. */
  error: unknown;
  private last = 0;
  /** True while the page reads older requests from the journal. */
  private isGoingBack = false;
  /** Ids of requests from the stream while the page reads the journal. They are not added again from the journal. */
  private readonly told = new Set<string>();

  constructor(private readonly text: string | undefined) {}

  /** Adds the newest requests of the journal. The event stream delivers only requests after these. */
  begin(page: JournalPage): void {
    this.gone = page.dropped;
    this.last = page.last_event_id;
    this.isSettled = true;
    this.takeOlder(page);
  }

  /** Adds a part of the journal, newest first, before the other rows. Returns false if no further part is needed. */
  takeOlder({ items, has_more: hasMore }: JournalPage): boolean {
    // Skip a request that has not ended, because the stream delivers it when it ends.
    const ended = items.filter(({ id, outcome }) => outcome !== 'open' && !this.told.has(id));
    const isKept = ended.every((entry) => this.isHidden(rowOf(entry)) || this.list.addOlder(rowOf(entry)));
    this.hasOlder = (hasMore || !isKept) && !this.list.isCleared;
    this.isGoingBack = hasMore && isKept;
    if (!this.isGoingBack) this.told.clear();
    return this.isGoingBack;
  }

  take(events: readonly StreamEvent[]): void {
    for (const { name, id, data } of events) {
      // Restart the list if the id has decreased, because a restarted emulator numbers its events from 1 again.
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
    // Render at most once per frame of the screen, because many requests may arrive within one frame.
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
    /** Reads older requests from the journal until the list is full. After an error, it stops and reports nothing. */
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
