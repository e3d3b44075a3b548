import type { JournalEntry } from './entry.js';
import type { Journal } from './journal.js';
import { type RequestQuery, selectorOf } from './query.js';
import type { RequestRecord } from './record.js';

/**
 * Request whose response has ended. `id` is its number among the ended responses. To continue after this request, a
 * reader passes `id` as `after`.
 */
export interface EndedRequest {
  readonly id: number;
  readonly entry: JournalEntry;
}

/**
 * Number of requests that the reader missed before the next one. The journal had dropped them, or the reader was too
 * slow.
 */
export interface MissedRequests {
  readonly missed: number;
}

export interface SubscribeOptions {
  readonly query?: RequestQuery;
  /**
   * `id` of the last request that the reader received, as in the header `Last-Event-ID` of server-sent events. By
   * default, only requests that end from now on are reported.
   */
  readonly after?: number | undefined;
  /** Ends the subscription when aborted. */
  readonly signal?: AbortSignal;
  /**
   * Maximum number of new requests that wait for the reader. Beyond it, the oldest request is dropped and reported as
   * missed.
   */
  readonly capacity?: number;
  /** Converts a record to a journal entry. Default: `journal.write`. */
  readonly write?: (record: RequestRecord) => JournalEntry;
}

const CAPACITY = 1000;

/**
 * Yields requests of the journal that match `query`, in the order in which their responses end.
 *
 * The iteration ends when `signal` is aborted, or when a restored state replaces the journal. A reader that subscribes
 * again receives the requests of the restored state. If `after` is greater than the number of the last request, it is
 * from a state before a restore, so the whole journal is reported.
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
  /** Number of the last request that was processed, counted among the ended responses. */
  let last = after > journal.ended ? 0 : after;
  let waiting: RequestRecord[] = [];
  let missed = 0;
  let isReplaying = true;
  let isEnded = signal?.aborted ?? false;
  let wake = () => {};
  const end = () => {
    isEnded = true;
    wake();
  };
  const unsubscribe = journal.listen((record) => {
    // Ignores requests that end while earlier ones are replayed, because the replay itself finds them in the journal.
    if (isReplaying) return;
    if (waiting.length >= capacity) {
      missed += 1;
      waiting.shift();
    }
    waiting.push(record);
    wake();
  }, end);
  signal?.addEventListener('abort', end, { once: true });
  const eventOf = (record: RequestRecord): EndedRequest => ({ id: record.ended, entry: write(record) });
  try {
    while (journal.ended > last) {
      const replayed = endedAfter(journal, last);
      const dropped = journal.ended - last - replayed.length;
      last = journal.ended;
      if (dropped > 0) yield { missed: dropped };
      for (const record of replayed) {
        if (isEnded) return;
        if (isWanted(record)) yield eventOf(record);
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
        if (isWanted(record)) yield eventOf(record);
      } else if (isEnded) return;
      else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    unsubscribe();
    signal?.removeEventListener('abort', end);
    waiting = [];
  }
}

function endedAfter(journal: Journal, last: number): RequestRecord[] {
  return [...journal.records()].filter(({ ended }) => ended > last).sort((a, b) => a.ended - b.ended);
}
