import { useEffect, useReducer, useState } from 'preact/hooks';
import { get, type Page } from '../api/client.js';
import { followRequests, type StreamEvent, type StreamState } from '../api/stream.js';
import { type Entry, holdsText, type Row, rowOf } from './entry.js';
import type { Filter } from './filter.js';
import { RowList } from './row-list.js';

/** Rows that are kept. */
export const MOST_ROWS = 20_000;

/** Requests of the journal that are asked for at once. */
const ASKED_AT_ONCE = 500;

/** What `GET requests` tells, beside its items. */
interface JournalPage extends Page<Entry> {
  readonly dropped: number;
  readonly last_event_id: number;
}

/** The requests that a filter selects, as they come. */
export class LiveRequests {
  readonly list = new RowList<Row>(MOST_ROWS);
  /** Number of requests that the journal no longer had, and of those that came faster than they could be told. */
  gone = 0;
  missed = 0;
  /** Whether the state was put back meanwhile: the rows are of the one that took its place. */
  isReset = false;
  /** True once the newest requests that the journal had are shown. */
  isSettled = false;
  /** True if the journal has requests before the first row, which are not shown. */
  hasOlder = false;
  state: StreamState | 'connecting' = 'connecting';
  /** Why the emulator tells nothing, such as a wrong filter. */
  error: unknown;
  private last = 0;
  /** Whether older requests are being read. */
  private isGoingBack = false;
  /** Requests that the stream told meanwhile. What is read may have them too. */
  private readonly told = new Set<string>();

  constructor(private readonly text: string | undefined) {}

  /** Takes the newest requests of the journal; the stream goes on behind them. */
  begin(page: JournalPage): void {
    this.gone = page.dropped;
    this.last = page.last_event_id;
    this.isSettled = true;
    this.takeOlder(page);
  }

  /** Takes a page of the journal, newest first. Returns false if no row of the next one would be kept. */
  takeOlder({ items, has_more: hasMore }: JournalPage): boolean {
    // A request whose answer has not ended is told by the stream.
    const ended = items.filter(({ id, outcome }) => outcome !== 'open' && !this.told.has(id));
    const isKept = ended.every((entry) => this.isHidden(rowOf(entry)) || this.list.addOlder(rowOf(entry)));
    this.hasOlder = (hasMore || !isKept) && !this.list.isCleared;
    this.isGoingBack = hasMore && isKept;
    if (!this.isGoingBack) this.told.clear();
    return this.isGoingBack;
  }

  take(events: readonly StreamEvent[]): void {
    for (const { name, id, data } of events) {
      // An emulator that was started anew numbers from 1 again.
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
    // However many come, they are drawn once a frame.
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
    /** Reads the rest of the journal, as far as there is room for rows. What cannot be read stays in the journal. */
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
