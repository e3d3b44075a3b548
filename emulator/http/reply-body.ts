import type { OutgoingHttpHeaders } from 'node:http';
import type { Reply } from './reply.js';

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
