import type { JournalEntry } from './entry.js';
import type { Journal } from './journal.js';
import { type RequestQuery, selectorOf } from './query.js';
import type { RequestRecord } from './record.js';

/** A request whose answer has ended, and the number to go on behind. */
export interface EndedRequest {
  readonly id: number;
  readonly entry: JournalEntry;
}

/** So many requests before the next one are not told: the journal let go of them, or the reader was too slow. */
export interface MissedRequests {
  readonly missed: number;
}

export interface SubscribeOptions {
  readonly query?: RequestQuery;
  /** `id` of the last request that was read, as `Last-Event-ID` gives it; without it only later ones are told. */
  readonly after?: number | undefined;
  /** Ends the subscription. */
  readonly signal?: AbortSignal;
  /** Requests that wait for the reader at most. */
  readonly capacity?: number;
}

const CAPACITY = 1000;

/**
 * Requests as their answers end, in that order; a query leaves others out. It ends with `signal`, and when another state
 * takes the place of the journal's: a reader that asks again is told of the requests of that one.
 *
 * A number behind the last one is of a journal that was put back; then all that is there is told.
 */
export async function* subscribe(
  journal: Journal,
  { query, after, signal, capacity = CAPACITY }: SubscribeOptions = {},
): AsyncGenerator<EndedRequest | MissedRequests, void, undefined> {
  const isWanted = selectorOf(query);
  let waiting: RequestRecord[] = after === undefined ? [] : endedAfter(journal, after);
  let missed = after === undefined ? 0 : Math.max(0, journal.ended - placeIn(journal, after) - waiting.length);
  let isOver = signal?.aborted ?? false;
  let wake = () => {};
  const end = () => {
    isOver = true;
    wake();
  };
  const stop = journal.listen((record) => {
    if (waiting.length >= capacity) {
      missed += 1;
      waiting.shift();
    }
    waiting.push(record);
    wake();
  }, end);
  signal?.addEventListener('abort', end, { once: true });
  try {
    for (;;) {
      if (missed > 0) {
        const count = missed;
        missed = 0;
        yield { missed: count };
      }
      const record = waiting.shift();
      if (record) {
        if (isWanted(record)) yield { id: record.ended, entry: journal.write(record) };
      } else if (isOver) return;
      else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    stop();
    signal?.removeEventListener('abort', end);
    waiting = [];
  }
}

function placeIn(journal: Journal, after: number): number {
  return after > journal.ended ? 0 : after;
}

function endedAfter(journal: Journal, after: number): RequestRecord[] {
  const place = placeIn(journal, after);
  return [...journal.records()].filter(({ ended }) => ended > place).sort((a, b) => a.ended - b.ended);
}
