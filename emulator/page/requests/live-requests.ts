import { useEffect, useReducer, useState } from 'preact/hooks';
import { followRequests, type StreamEvent, type StreamState } from '../api/stream.js';
import { type Entry, holdsText, type Row, rowOf } from './entry.js';
import type { Filter } from './filter.js';
import { RowList } from './row-list.js';

/** Rows that are kept. */
export const MOST_ROWS = 20_000;

/** The requests that a filter selects, as they come. */
export interface LiveRequests {
  readonly list: RowList<Row>;
  /** Those before the first row, which the journal no longer had, and those that came faster than they could be told. */
  readonly gone: number;
  readonly missed: number;
  /** Whether the state was put back meanwhile: the rows are of the one that took its place. */
  readonly isReset: boolean;
  readonly state: StreamState;
  /** Whether what the journal had is told by now. */
  readonly isSettled: boolean;
  /** Why the emulator tells nothing, such as a wrong filter. */
  readonly error: unknown;
}

class Followed {
  readonly list = new RowList<Row>(MOST_ROWS);
  gone = 0;
  missed = 0;
  isReset = false;
  isSettled = false;
  state: StreamState = 'connecting';
  error: unknown;
  private last = 0;

  constructor(private readonly text: string | undefined) {}

  take(events: readonly StreamEvent[]): void {
    for (const { name, id, data } of events) {
      // An emulator that was started anew numbers from 1 again.
      if (name === 'reset' || (id !== undefined && id <= this.last)) this.restart();
      if (id !== undefined) this.last = id;
      if (name === 'missed') this.miss((data as { missed: number }).missed);
      else if (name === 'request') this.add(rowOf(data as Entry));
    }
  }

  private add(row: Row): void {
    if (this.text === undefined || holdsText(row, this.text)) this.list.add(row);
  }

  private miss(count: number): void {
    if (this.last === 0) this.gone += count;
    else this.missed += count;
  }

  private restart(): void {
    this.list.clear();
    this.gone = 0;
    this.missed = 0;
    this.isReset = true;
  }
}

/** A journal that has nothing to tell is silent: after so many milliseconds it is taken as empty. */
const SILENCE = 300;

export function useLiveRequests(filter: Filter): LiveRequests {
  const [, redraw] = useReducer((times: number) => times + 1, 0);
  const key = JSON.stringify(filter);
  const [followed, setFollowed] = useState(() => new Followed(filter.text));
  useEffect(() => {
    const { text, ...query } = filter;
    const followed = new Followed(text);
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
    let timer: ReturnType<typeof setTimeout> | undefined;
    const settle = () => {
      followed.isSettled = true;
      change();
    };
    followRequests({
      query,
      after: '0',
      signal,
      onEvents: (events) => {
        followed.take(events);
        change();
      },
      onState: (state) => {
        followed.state = state;
        if (state === 'open') timer ??= setTimeout(settle, SILENCE);
        change();
      },
    }).catch((error: unknown) => {
      if (signal.aborted) return;
      followed.error = error;
      change();
    });
    return () => {
      abort.abort();
      clearTimeout(timer);
      cancelAnimationFrame(frame);
    };
  }, [key]);
  return followed;
}
