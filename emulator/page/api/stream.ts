import { createParser } from 'eventsource-parser';
import { ApiError, type QueryValue, send } from './client.js';

/** What `GET requests/stream` tells (WHATWG HTML, 9.2.6). */
export interface StreamEvent {
  readonly name: 'request' | 'missed' | 'reset';
  /** Grows, until another journal takes the place of the first. */
  readonly id: number | undefined;
  readonly data: unknown;
}

/** `waiting`: the stream broke off or never came, and is asked for again. */
export type StreamState = 'open' | 'waiting';

export interface StreamOptions {
  readonly query: Readonly<Record<string, QueryValue>>;
  /** Resolves to the id of the last event that was seen; empty: only what comes from now on. Asked again until it answers. */
  readonly after: (signal: AbortSignal) => Promise<string>;
  readonly signal: AbortSignal;
  onEvents(events: readonly StreamEvent[]): void;
  onState(state: StreamState): void;
}

/** Milliseconds before a stream that broke off is asked for again: the first pause, and the longest. */
const PAUSE = { first: 250, longest: 5_000 };

/**
 * Follows the requests until `signal` is aborted, over `fetch`: an `EventSource` cannot show the admin token. A stream that
 * breaks off goes on behind its last event. Throws `ApiError` where the emulator refuses, as it does a wrong filter.
 */
export async function followRequests({ query, after, signal, onEvents, onState }: StreamOptions): Promise<void> {
  let last: string | undefined;
  for (let pause = PAUSE.first; !signal.aborted; pause = Math.min(2 * pause, PAUSE.longest)) {
    try {
      last ??= await after(signal);
      const response = await send('GET', 'requests/stream', { query, signal, headers: { 'last-event-id': last } });
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
    onState('waiting');
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
