import type { OutgoingHttpHeaders } from 'node:http';
import { jsonPieces } from './json-pieces.js';

/** How a connection ends in the middle of an answer: it is closed in order, or reset; or nothing more is sent. */
export type ConnectionEnding = 'fin' | 'rst' | 'stall';

/** Where in its head an answer is cut; without a place, before its first byte. */
export interface HeadCut {
  readonly how: ConnectionEnding;
  readonly bytes?: number | undefined;
  /** 0 to 1 of the head. */
  readonly fraction?: number | undefined;
}

/** What a handler returns: a value that one adapter (`respond.ts`) writes to the socket. */
export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A JSON value, whole or as the pieces of its text; bytes; or a stream of bytes. Absent for an empty body. */
  readonly json?: unknown;
  readonly pieces?: Iterable<string>;
  readonly bytes?: Uint8Array;
  readonly stream?: AsyncIterable<Uint8Array>;
  /** A success as HTTP has it, whose body says that nothing was done. */
  readonly isRefusal?: true;
  /** The connection ends before or within the head: no body is sent. Only where that was asked for. */
  readonly cut?: HeadCut;
}

export function json(status: number, value: unknown, headers?: Readonly<Record<string, string>>): Reply {
  return headers ? { status, json: value, headers } : { status, json: value };
}

/**
 * As `json`, of a value that may be large: a short text leaves as that of `json` does, a long one in chunks, made as
 * the client takes them. Lists may be any iterables and texts the bytes of UTF-8, as `jsonPieces` says.
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
/** Units of work for a character of JSON. */
const CHARACTER_COST = 1 / 128;

/** What shares the event loop between long work: `schedule`. */
export interface Pace {
  spend(units: number): void;
  readonly isSliceOver: boolean;
  nextSlice(): Promise<void>;
}

/** A body that is at hand; undefined: none. */
export type Body = Uint8Array | string | undefined;
export type BodyStream = AsyncIterable<Uint8Array | string>;

export function isStream(body: Body | BodyStream): body is BodyStream {
  return typeof body === 'object' && Symbol.asyncIterator in body;
}

export function bodyOf({ json, pieces, bytes, stream }: Reply, pace: Pace): Body | BodyStream {
  if (json !== undefined) return JSON.stringify(json);
  if (pieces === undefined) return stream ?? bytes;
  const rest = pieces[Symbol.iterator]();
  const first = rest.next();
  const second = rest.next();
  return second.done ? (first.value ?? '') : oneByOne([first.value, second.value], rest, pace);
}

/** Pieces of text, made in slices. */
async function* oneByOne(first: readonly string[], rest: Iterator<string>, pace: Pace): AsyncGenerator<string> {
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

/** The headers of a reply with that body. */
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
