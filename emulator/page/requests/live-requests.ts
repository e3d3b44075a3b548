import { useEffect, useReducer, useState } from 'preact/hooks';
import { get, type Page } from '../api/client.js';
import { followRequests, type StreamEvent, type StreamState } from '../api/stream.js';
import { type Entry, holdsText, type Row, rowOf } from './entry.js';
import type { Filter } from './filter.js';
import { RowList } from './row-list.js';

/**
 * Maximum number of requests that the page keeps in memory. If there are more, the oldest are removed from the list.
 */
export const MAX_ROWS = 20_000;

/** Number of requests in one response when the page reads the journal (list of past requests). */
const ASKED_AT_ONCE = 500;

/**
 * Response of `GET requests`. It contains one part of the journal (list of past requests), the number of requests that
 * the journal has dropped, and the id of the last event that the part includes.
 */
interface JournalPage extends Page<Entry> {
  readonly dropped: number;
  readonly last_event_id: number;
}

/**
 * Requests to the emulator that match a filter. Past requests come from the journal, new requests from an event stream.
 */
export class LiveRequests {
  readonly list = new RowList<Row>(MAX_ROWS);
  /**
   * `gone` is the number of old requests that the journal no longer contained when the page read it. `missed` is the
   * number of requests that the event stream omitted.
   */
  gone = 0;
  missed = 0;
  /** True if the emulator was reset while the page was open. All rows are then requests received after the reset. */
  isReset = false;
  /**
   * True after the first part of the journal has arrived, which contains the newest requests. Before that, an empty
   * list does not mean that there are no requests.
   */
  isSettled = false;
  /**
   * True if the journal contains requests that are older than the oldest row. The list is full then, or older parts are
   * not loaded yet.
   */
  hasOlder = false;
  state: StreamState | 'connecting' = 'connecting';
  /**
   * Error with which the emulator refused the list or the stream of requests; undefined if none. One cause is an
   * invalid filter.
   */
  error: unknown;
  private last = 0;
  /** True while the page reads older parts of the journal, one after the other. */
  private isGoingBack = false;
  /**
   * Ids of requests that the event stream delivered while the page reads older parts of the journal. These parts can
   * contain such requests again; they must not be added twice.
   */
  private readonly delivered = new Set<string>();

  constructor(private readonly text: string | undefined) {}

  /**
   * Adds the newest part of the journal. The event stream is opened after this call and delivers only later requests.
   */
  begin(page: JournalPage): void {
    this.gone = page.dropped;
    this.last = page.last_event_id;
    this.isSettled = true;
    this.takeOlder(page);
  }

  /**
   * Adds a part of the journal, newest first, before the existing rows. Returns false if no further part is needed,
   * because the list is full or the journal has no older requests.
   */
  takeOlder({ items, has_more: hasMore }: JournalPage): boolean {
    // Requests that have not ended are skipped. The event stream delivers them when they end.
    const ended = items.filter(({ id, outcome }) => outcome !== 'open' && !this.delivered.has(id));
    const isKept = ended.every((entry) => this.isHidden(rowOf(entry)) || this.list.addOlder(rowOf(entry)));
    this.hasOlder = (hasMore || !isKept) && !this.list.isCleared;
    this.isGoingBack = hasMore && isKept;
    if (!this.isGoingBack) this.delivered.clear();
    return this.isGoingBack;
  }

  take(events: readonly StreamEvent[]): void {
    for (const { name, id, data } of events) {
      // An event id that has not increased means that the emulator was restarted, because it then numbers its events
      // from 1 again. The list is restarted too.
      if (name === 'reset' || (id !== undefined && id <= this.last)) this.restart();
      if (id !== undefined) this.last = id;
      if (name === 'missed') this.missed += (data as { missed: number }).missed;
      else if (name === 'request') this.add(rowOf(data as Entry));
    }
  }

  private add(row: Row): void {
    if (this.isGoingBack) this.delivered.add(row.id);
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
    // The list is rendered at most once per frame of the screen, because many requests can arrive within one frame.
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
    /**
     * Reads older parts of the journal until the list is full or the journal ends. After an error, reading stops
     * without a message, because the newer requests are already shown.
     */
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
