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
 * Open event streams of one port. Each stream sends the journal entry of every request. An event is serialized only
 * once, because all streams send the same bytes.
 */
export class EventStreams {
  #open = 0;
  /**
   * Last serialized request, with its event. The key is true for streams that include request and response bodies,
   * false for others.
   */
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

  /**
   * Returns the journal entry of a request whose response has ended. `bodies` is true to include the request and
   * response bodies.
   */
  entryOf(journal: Journal, record: RequestRecord, bodies: boolean): JournalEntry {
    let last = this.#last.get(bodies);
    if (last?.record !== record) {
      last = { record, entry: journal.write(record, { bodies }) };
      this.#last.set(bodies, last);
    }
    return last.entry;
  }

  /**
   * Returns the bytes of the server-sent event for a journal entry. Reuses the bytes of the last event if the entry is
   * the same.
   */
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
 * Interval between heartbeats on a silent event stream, in milliseconds of real time. A heartbeat is an empty comment.
 * It is needed because only writing reveals that a client has disconnected.
 */
const HEARTBEAT_INTERVAL = 15_000;

export interface StreamOptions {
  /** Id of the last event that the client received. Undefined to send only new requests. */
  readonly after: number | undefined;
  readonly query: RequestQuery;
  readonly bodies: boolean;
  readonly signal: AbortSignal;
  readonly streams: EventStreams;
}

/**
 * Yields each request that the emulator has handled as a server-sent event (WHATWG HTML, section 9.2). An event has
 * three lines: `id: 7`, `event: request` and `data: {…}`.
 *
 * Two other events can occur. `missed` gives the number of requests that are not sent, because the journal dropped them
 * or the client reads too slowly. `reset` says that the state was reset, so later events are for requests to the new
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
      // The subscription ended. If a reset replaced the world, the stream continues with the new world. Otherwise the
      // emulator was closed, and the stream ends.
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
