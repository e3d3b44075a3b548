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
  /** Requests that wait at most for a reader who has come to the present. */
  readonly capacity?: number;
  /** Writes out a record; `journal.write` unless given. */
  readonly write?: (record: RequestRecord) => JournalEntry;
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
  {
    query,
    after = journal.ended,
    signal,
    capacity = CAPACITY,
    write = (record) => journal.write(record),
  }: SubscribeOptions = {},
): AsyncGenerator<EndedRequest | MissedRequests, void, undefined> {
  const isWanted = selectorOf(query);
  /** The number of the last request that was looked at. */
  let last = after > journal.ended ? 0 : after;
  let waiting: RequestRecord[] = [];
  let missed = 0;
  let isReplaying = true;
  let isOver = signal?.aborted ?? false;
  let wake = () => {};
  const end = () => {
    isOver = true;
    wake();
  };
  const stop = journal.listen((record) => {
    // The journal still has what comes during a replay.
    if (isReplaying) return;
    if (waiting.length >= capacity) {
      missed += 1;
      waiting.shift();
    }
    waiting.push(record);
    wake();
  }, end);
  signal?.addEventListener('abort', end, { once: true });
  const tell = (record: RequestRecord): EndedRequest => ({ id: record.ended, entry: write(record) });
  try {
    while (journal.ended > last) {
      const replayed = endedAfter(journal, last);
      const lost = journal.ended - last - replayed.length;
      last = journal.ended;
      if (lost > 0) yield { missed: lost };
      for (const record of replayed) {
        if (isOver) return;
        if (isWanted(record)) yield tell(record);
      }
    }
    isReplaying = false;
    for (;;) {
      if (missed > 0) {
        const count = missed;
        missed = 0;
        yield { missed: count };
      }
      const record = waiting.shift();
      if (record) {
        if (isWanted(record)) yield tell(record);
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

function endedAfter(journal: Journal, last: number): RequestRecord[] {
  return [...journal.records()].filter(({ ended }) => ended > last).sort((a, b) => a.ended - b.ended);
}
