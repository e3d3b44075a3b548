import type { OutgoingHttpHeaders } from 'node:http';
import { jsonPieces } from './json-pieces.js';

/**
 * How a fault (simulated failure) ends a connection in the middle of a response. `fin` closes the connection, `rst`
 * resets it, and `stall` keeps it open but sends no more bytes.
 */
export type ConnectionEnding = 'fin' | 'rst' | 'stall';

/** Cut inside the header of a response. If both `bytes` and `fraction` are absent, nothing of the response is sent. */
export interface HeadCut {
  readonly how: ConnectionEnding;
  readonly bytes?: number | undefined;
  /** Length of the sent part, as a fraction of the header from 0 to 1. */
  readonly fraction?: number | undefined;
}

/** Response that a handler returns. `writeReply` writes it to the socket. */
export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Body of the response. At most one of these members is given: a JSON value (`json`), the pieces of a JSON text
   * (`pieces`), bytes, or a stream of bytes. All are absent if the body is empty.
   */
  readonly json?: unknown;
  readonly pieces?: Iterable<string>;
  readonly bytes?: Uint8Array;
  readonly stream?: AsyncIterable<Uint8Array>;
  /** True if the status means success, but the body says that nothing was done. */
  readonly isRefusal?: true;
  /**
   * Ends the connection before the response or inside its header; the body is not sent. Set only by a `cut` fault
   * (simulated failure).
   */
  readonly cut?: HeadCut;
}

export function json(status: number, value: unknown, headers?: Readonly<Record<string, string>>): Reply {
  return headers ? { status, json: value, headers } : { status, json: value };
}

/**
 * Like `json`, for a value that may be large. A short text is sent in one piece. A long text is sent in pieces, which
 * are produced as the client reads them. `value` may contain iterables instead of arrays and Buffers instead of strings
 * (see `jsonPieces`).
 */
export function largeJson(status: number, value: unknown, headers?: Readonly<Record<string, string>>): Reply {
  return headers ? { status, pieces: jsonPieces(value), headers } : { status, pieces: jsonPieces(value) };
}

export function bytes(status: number, body: Uint8Array, headers?: Readonly<Record<string, string>>): Reply {
  return headers ? { status, bytes: body, headers } : { status, bytes: body };
}

export function stream(
  status: number,
  body: AsyncIterable<Uint8Array>,
  headers?: Readonly<Record<string, string>>,
): Reply {
  return headers ? { status, stream: body, headers } : { status, stream: body };
}

export function empty(status: number, headers?: Readonly<Record<string, string>>): Reply {
  return headers ? { status, headers } : { status };
}

const JSON_TYPE = 'application/json';
/** Cost of writing one character of JSON, in units of CPU work (`schedule/cost.ts`). */
const CHARACTER_COST = 1 / 128;

/** Scheduler that shares the event loop fairly between long-running requests. `Schedule` implements it. */
export interface Pace {
  spend(units: number): void;
  readonly isSliceOver: boolean;
  nextSlice(): Promise<void>;
}

/** Body that is completely in memory; undefined if the body is empty. */
export type Body = Uint8Array | string | undefined;
export type BodyStream = AsyncIterable<Uint8Array | string>;

export function isStream(body: Body | BodyStream): body is BodyStream {
  return typeof body === 'object' && Symbol.asyncIterator in body;
}

/** Returns the body of a reply as a text, bytes or a stream. A JSON text of more than one piece becomes a stream. */
export function bodyOf({ json, pieces, bytes, stream }: Reply, pace: Pace): Body | BodyStream {
  if (json !== undefined) return JSON.stringify(json);
  if (pieces === undefined) return stream ?? bytes;
  const rest = pieces[Symbol.iterator]();
  const first = rest.next();
  const second = rest.next();
  return second.done ? (first.value ?? '') : streamPieces([first.value, second.value], rest, pace);
}

/**
 * Yields the pieces of a JSON text: first `first`, then `rest`. When the time slice of the request is over, it waits so
 * that other requests can run.
 */
async function* streamPieces(first: readonly string[], rest: Iterator<string>, pace: Pace): AsyncGenerator<string> {
  const count = (piece: string): string => {
    pace.spend(piece.length * CHARACTER_COST);
    return piece;
  };
  try {
    yield* first.map(count);
    for (let piece = rest.next(); !piece.done; piece = rest.next()) {
      yield count(piece.value);
      if (pace.isSliceOver) await pace.nextSlice();
    }
  } finally {
    rest.return?.();
  }
}

/**
 * Returns all headers of a response. They come from the body, then from the reply, then from `common`, which every
 * response has. A later header replaces an earlier one with the same name.
 */
export function describeBody(
  { status, headers, pieces }: Reply,
  body: Body | BodyStream,
  common: Readonly<Record<string, string>>,
): OutgoingHttpHeaders {
  if (isStream(body)) return { ...(pieces && { 'content-type': JSON_TYPE }), ...headers, ...common };
  if (status === 204 || status === 304) return { ...headers, ...common };
  if (body === undefined) return { ...headers, ...common, 'content-length': 0 };
  const type = typeof body === 'string' ? JSON_TYPE : 'application/octet-stream';
  return { 'content-type': type, 'content-length': Buffer.byteLength(body), ...headers, ...common };
}
