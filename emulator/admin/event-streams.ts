import type { JournalEntry } from '../journal/entry.js';
import type { Journal } from '../journal/journal.js';
import type { RequestQuery } from '../journal/query.js';
import type { RequestRecord } from '../journal/record.js';
import { subscribe } from '../journal/subscription.js';
import type { CurrentWorld } from '../world/current-world.js';

/**
 * Maximum number of open event streams of the request journal per port. Each stream adds about 10 µs to every request
 * of the port.
 */
export const MAX_STREAMS = 100;

/**
 * Open event streams of one port, which send the journal entry of each request. All streams send the same bytes for a
 * request, so its event is written only once.
 */
export class EventStreams {
  #open = 0;
  /** Request that was written last, with its event: by true for streams with bodies, by false for streams without. */
  readonly #last = new Map<boolean, { readonly record: RequestRecord; readonly entry: JournalEntry; event?: Buffer }>();

  get isFull(): boolean {
    return this.#open >= MAX_STREAMS;
  }

  /** Counts a stream as open. The caller calls the returned function when the stream ends. */
  open(): () => void {
    this.#open++;
    return () => {
      this.#open--;
    };
  }

  /** Returns the journal entry of a request whose response has ended. `bodies`: true to include the bodies. */
  entryOf(journal: Journal, record: RequestRecord, bodies: boolean): JournalEntry {
    let last = this.#last.get(bodies);
    if (last?.record !== record) {
      last = { record, entry: journal.write(record, { bodies }) };
      this.#last.set(bodies, last);
    }
    return last.entry;
  }

  /** Returns the bytes of the server-sent event for a journal entry, from the last requests if possible. */
  eventOf({ id, entry }: { readonly id: number; readonly entry: JournalEntry }): Buffer {
    const write = () => event({ id, name: 'request', data: entry });
    for (const last of this.#last.values()) {
      if (last.entry !== entry) continue;
      last.event ??= write();
      return last.event;
    }
    return write();
  }
}

/** Returns the bytes of one server-sent event. `data` is written as JSON. */
export function event({ id, name, data }: { id?: number; name: string; data: unknown }): Buffer {
  const idLine = id === undefined ? '' : `id: ${id}\n`;
  return Buffer.from(`${idLine}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
}

/**
 * Milliseconds of real time between heartbeats (empty comments) on an event stream without events. Only writing reveals
 * that a client has disconnected.
 */
const HEARTBEAT_INTERVAL = 15_000;

export interface StreamOptions {
  /** Id of the last event that the client has received; undefined to begin with new requests. */
  readonly after: number | undefined;
  readonly query: RequestQuery;
  readonly bodies: boolean;
  readonly signal: AbortSignal;
  readonly streams: EventStreams;
}

/**
 * Yields the requests that the emulator has handled as server-sent events (WHATWG HTML, section 9.2), such as `id: 7`,
 * `event: request` and `data: {…}`, each in its own line.
 * The event `missed` has the number of requests that are not sent, because the journal has dropped them or the client
 * reads too slowly. The event `reset` says that the state was reset, and that later events are for requests to the new
 * state.
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
      // The subscription ended. Unless another world has replaced this one (a reset), the emulator was closed, so the
      // stream ends.
      if (signal.aborted || current.world === world) return;
      yield event({ id: current.world.state.journal.ended, name: 'reset', data: {} });
    }
  } finally {
    close();
  }
}

/** Yields the items of `source`, and undefined after each `HEARTBEAT_INTERVAL` milliseconds without an item. */
async function* withHeartbeat<T>(source: AsyncGenerator<T, void>): AsyncGenerator<T | undefined> {
  let onHeartbeat = () => {};
  const timer = setInterval(() => onHeartbeat(), HEARTBEAT_INTERVAL).unref();
  try {
    for (let next = source.next(); ; ) {
      const quiet = new Promise<undefined>((resolve) => {
        onHeartbeat = () => resolve(undefined);
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
