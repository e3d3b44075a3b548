import { signal as createSignal } from '@preact/signals';
import { createParser } from 'eventsource-parser';
import { ApiError, type QueryValue, send } from './client.js';

/**
 * Server-sent event of `GET requests/stream` of the admin API. WHATWG HTML, section 9.2.6, defines the format. The
 * events are:
 *
 * - `request`: a request to the emulator has ended
 * - `missed`: number of requests for which no event was sent
 * - `reset`: the state of the emulator was reset
 */
export interface StreamEvent {
  readonly name: 'request' | 'missed' | 'reset';
  /** Event id; undefined if the event has none. Ids increase until the journal (list of past requests) is reset. */
  readonly id: number | undefined;
  readonly data: unknown;
}

/**
 * State of the event stream. `waiting` means that the stream ended or could not be opened; the page opens it again
 * after a pause.
 */
export type StreamState = 'open' | 'waiting';

/**
 * State of the event stream that was opened or that ended last. The page has one stream at a time, so this is the state
 * of its connection to the emulator.
 */
export const streamState = createSignal<StreamState | 'connecting'>('connecting');

export interface StreamOptions {
  readonly query: Readonly<Record<string, QueryValue>>;
  /**
   * Called before the stream is opened, and again after each failure until it succeeds. Resolves to an event id: the
   * stream begins after this event. An empty id requests only new events.
   */
  readonly after: (signal: AbortSignal) => Promise<string>;
  readonly signal: AbortSignal;
  onEvents(events: readonly StreamEvent[]): void;
  onState(state: StreamState): void;
}

/**
 * Pauses in milliseconds before the page opens an ended event stream again. The pause is `first` after the first
 * failure and doubles with each further failure, up to `longest`.
 */
const PAUSE = { first: 250, longest: 5_000 };

/**
 * Receives events about requests to the emulator until `signal` is aborted. If the stream ends, it is opened again and
 * continues after the last event. Throws `ApiError` if the emulator refuses the stream, for example because of an
 * invalid filter.
 *
 * The function uses `fetch`, because an `EventSource` cannot send the admin token in a header.
 */
export async function followRequests({ query, after, signal, onEvents, onState }: StreamOptions): Promise<void> {
  let last: string | undefined;
  for (let pause = PAUSE.first; !signal.aborted; pause = Math.min(2 * pause, PAUSE.longest)) {
    try {
      last ??= await after(signal);
      const response = await send('GET', 'requests/stream', { query, signal, headers: { 'last-event-id': last } });
      streamState.value = 'open';
      onState('open');
      pause = PAUSE.first;
      let events: StreamEvent[] = [];
      const parser = createParser({
        onEvent: ({ id, event, data }) => {
          if (id !== undefined) last = id;
          events.push({
            name: event as StreamEvent['name'],
            id: id === undefined ? id : Number(id),
            data: JSON.parse(data),
          });
        },
      });
      const decoder = new TextDecoder();
      for await (const chunk of response.body!) {
        parser.feed(decoder.decode(chunk, { stream: true }));
        if (events.length > 0) onEvents(events);
        events = [];
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && error.status !== 0 && error.status < 500) throw error;
    }
    streamState.value = 'waiting';
    onState('waiting');
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
