import type { RequestQuery } from '../journal/query.js';
import type { RequestRecord } from '../journal/record.js';
import { subscribe } from '../journal/subscription.js';
import type { CurrentWorld } from '../world/current-world.js';
import { type EventStreams, event } from './event-streams.js';

/** Milliseconds (real time) until a quiet stream says that it is still there: a client that has gone is found out by that. */
const QUIET = 15_000;

export interface StreamOptions {
  /** The last event that was read; without it, requests from now on. */
  readonly after: number | undefined;
  readonly query: RequestQuery;
  readonly bodies: boolean;
  readonly signal: AbortSignal;
  readonly streams: EventStreams;
}

/**
 * Requests as server-sent events (WHATWG HTML, 9.2):
 *
 *     id: 7
 *     event: request
 *     data: {…}
 *
 * `missed` says how many are not told, because the journal let go of them or the reader is too slow; `reset`, that
 * the state was put back, and that what follows are requests to that one.
 */
export async function* streamRequests(
  current: CurrentWorld,
  { after, query, bodies, signal, streams }: StreamOptions,
): AsyncGenerator<Buffer> {
  const close = streams.open();
  try {
    yield Buffer.from(': requests\n\n');
    for (let from = after; ; from = undefined) {
      const { world } = current;
      const { journal } = world.state;
      const write = (record: RequestRecord) => streams.entryOf(journal, record, bodies);
      const requests = subscribe(journal, { query, after: from, signal, write });
      for await (const request of withHeartbeat(requests)) {
        if (request === undefined) yield Buffer.from(':\n\n');
        else if ('missed' in request) yield event({ name: 'missed', data: request });
        else yield streams.eventOf(request);
      }
      // A world that nothing took the place of was closed.
      if (signal.aborted || current.world === world) return;
      yield event({ id: current.world.state.journal.ended, name: 'reset', data: {} });
    }
  } finally {
    close();
  }
}

/** Yields what `source` yields, and undefined after each `QUIET` milliseconds in which it yields nothing. */
async function* withHeartbeat<T>(source: AsyncGenerator<T, void>): AsyncGenerator<T | undefined> {
  let beat = () => {};
  const timer = setInterval(() => beat(), QUIET).unref();
  try {
    for (let next = source.next(); ; ) {
      const quiet = new Promise<undefined>((resolve) => {
        beat = () => resolve(undefined);
      });
      const result = await Promise.race([next, quiet]);
      if (result?.done) return;
      yield result?.value;
      if (result === undefined) continue;
      timer.refresh();
      next = source.next();
    }
  } finally {
    clearInterval(timer);
    void source.return();
  }
}
