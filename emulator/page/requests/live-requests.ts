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

/**
 * Orders of the request list, with the maximum number of rows and the texts that name the order. `slowest` has few
 * rows, because the list is sorted again for each new request. `above` and `below` describe the next and the previous
 * request of an open one, `left` the requests that the list does not show.
 */
export const ORDERS = {
  newest: { most: MAX_ROWS, title: '', label: 'newest first', above: 'Newer', below: 'Older', left: 'older requests' },
  slowest: {
    most: 500,
    title: 'slowest first',
    label: 'slowest first',
    above: 'Slower',
    below: 'Faster',
    left: 'faster ones',
  },
} as const;

export type Order = keyof typeof ORDERS;

/** Reads the parameter `order` of the page's URL. Throws an error for an unknown order. */
export function readOrder(order = 'newest'): Order {
  if (Object.hasOwn(ORDERS, order)) return order as Order;
  throw new Error(`The order ${JSON.stringify(order)} is unknown. Use ${Object.keys(ORDERS).join(' or ')}.`);
}

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
  readonly list: RowList<Row>;
  /**
   * New requests that are not in the list yet, because the list is sorted by duration and the user reads it. Empty if
   * the newest requests come first.
   */
  private readonly pending: RowList<Row>;
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
  /** Id of the last event of the stream that the list includes; 0 if none. */
  lastEvent = 0;
  /** True while the page reads older parts of the journal, one after the other. */
  private isGoingBack = false;
  /**
   * Ids of requests that the event stream delivered while the page reads older parts of the journal. These parts can
   * contain such requests again; they must not be added twice.
   */
  private readonly delivered = new Set<string>();

  constructor(
    private readonly text: string | undefined,
    readonly order: Order,
  ) {
    this.list = new RowList<Row>(ORDERS[order].most);
    this.pending = new RowList<Row>(ORDERS[order].most);
  }

  /** Number of new requests that `settle` will add to the list. */
  get waiting(): number {
    return this.pending.total - this.pending.first;
  }

  /**
   * Adds the new requests to a list that is sorted by duration. Rows move, so it is called only while the user is at
   * the top of the list.
   */
  settle(): void {
    if (this.waiting === 0 || this.isGoingBack) return;
    const fastest = this.list.get(this.list.first)?.duration ?? 0;
    // Requests that are faster than all rows are left out if the journal has more of them that the list does not show.
    const isLeftOut = (row: Row) => this.hasOlder && row.duration < fastest;
    for (const row of this.pending.takeAll()) if (!isLeftOut(row)) this.list.insert(row, durationOf);
  }

  clear(): void {
    this.list.clear();
    this.pending.clear();
  }

  /**
   * Adds the first part of the journal. The event stream is opened after this call and delivers only later requests.
   * Returns false if no further part is needed.
   */
  begin(page: JournalPage): boolean {
    this.gone = page.dropped;
    this.lastEvent = page.last_event_id;
    this.isSettled = true;
    return this.takeOlder(page);
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
    this.isGoingBack = hasMore && isKept && !this.list.isFull;
    if (!this.isGoingBack) this.delivered.clear();
    return this.isGoingBack;
  }

  take(events: readonly StreamEvent[]): void {
    for (const { name, id, data } of events) {
      // An event id that has not increased means that the emulator was restarted, because it then numbers its events
      // from 1 again. The list is restarted too.
      if (name === 'reset' || (id !== undefined && id <= this.lastEvent)) this.restart();
      if (id !== undefined) this.lastEvent = id;
      if (name === 'missed') this.missed += (data as { missed: number }).missed;
      else if (name === 'request') this.add(rowOf(data as Entry));
    }
  }

  private add(row: Row): void {
    if (this.isGoingBack) this.delivered.add(row.id);
    if (this.isHidden(row)) return;
    if (this.order === 'newest') this.list.add(row);
    else this.pending.insert(row, durationOf);
  }

  private isHidden(row: Row): boolean {
    return this.text !== undefined && !holdsText(row, this.text);
  }

  private restart(): void {
    this.clear();
    this.gone = 0;
    this.missed = 0;
    this.hasOlder = false;
    this.isReset = true;
  }
}

function durationOf({ duration }: Row): number {
  return duration;
}

export function useLiveRequests(filter: Filter, order: Order): LiveRequests {
  const [, redraw] = useReducer((times: number) => times + 1, 0);
  const key = JSON.stringify([order, filter]);
  const [followed, setFollowed] = useState(() => new LiveRequests(filter.text, order));
  useEffect(() => {
    const { text, ...query } = filter;
    const followed = new LiveRequests(text, order);
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
        query: { ...query, order, bodies: false, limit: ASKED_AT_ONCE, cursor },
        signal,
      });
    const begin = async (): Promise<string> => {
      const page = await ask();
      const isRoom = followed.begin(page);
      change();
      if (isRoom) void goBack(page);
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
