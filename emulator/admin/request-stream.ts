import { setTimeout as pause } from 'node:timers/promises';
import type { RequestQuery } from '../journal/query.js';
import { subscribe } from '../journal/subscription.js';
import type { CurrentWorld } from '../world/current-world.js';

/** Milliseconds (real time) until a quiet stream says that it is still there: a client that has gone is found out by that. */
const QUIET = 15_000;

export interface StreamOptions {
  /** The last event that was read; without it, requests from now on. */
  readonly after: number | undefined;
  readonly query: RequestQuery;
  readonly signal: AbortSignal;
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
  { after, query, signal }: StreamOptions,
): AsyncGenerator<Buffer> {
  yield Buffer.from(': requests\n\n');
  for (let from = after; ; from = undefined) {
    const { world } = current;
    const requests = subscribe(world.state.journal, { query, after: from, signal });
    for await (const request of withHeartbeat(requests, signal)) {
      if (request === undefined) yield Buffer.from(':\n\n');
      else if ('missed' in request) yield event({ name: 'missed', data: request });
      else yield event({ id: request.id, name: 'request', data: request.entry });
    }
    // A world that nothing took the place of was closed.
    if (signal.aborted || current.world === world) return;
    yield event({ id: current.world.state.journal.ended, name: 'reset', data: {} });
  }
}

/** What `source` gives, and undefined where it gives nothing for long. */
async function* withHeartbeat<T>(source: AsyncGenerator<T, void>, signal: AbortSignal): AsyncGenerator<T | undefined> {
  for (;;) {
    const next = source.next();
    let result = await nextOrQuiet(next, signal);
    for (; result === undefined; result = await nextOrQuiet(next, signal)) yield undefined;
    if (result.done) return;
    yield result.value;
  }
}

/** Undefined when it takes long. */
async function nextOrQuiet<T>(next: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  const timer = new AbortController();
  const quiet = pause(QUIET, undefined, { signal: AbortSignal.any([timer.signal, signal]), ref: false });
  // The end of the stream is told by its source.
  const result = await Promise.race([next, quiet.catch(() => next)]);
  timer.abort();
  return result;
}

function event({ id, name, data }: { id?: number; name: string; data: unknown }): Buffer {
  const mark = id === undefined ? '' : `id: ${id}\n`;
  return Buffer.from(`${mark}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
}
