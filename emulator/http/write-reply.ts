import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { discardUnread } from './lingering-close.js';
import type { Reply } from './reply.js';
import type { WriteCoalescing } from './write-coalescing.js';

const JSON_TYPE = 'application/json';
/** Units of work for a character of JSON. */
const CHARACTER_COST = 1 / 128;

/** What shares the event loop between long work: `git/schedule`. */
export interface Pace {
  spend(units: number): void;
  readonly isSliceOver: boolean;
  nextSlice(): Promise<void>;
}

/** Is told what leaves, as it leaves. */
export interface ReplyWatcher {
  head(fields: OutgoingHttpHeaders): void;
  /** A body that is at hand. */
  whole(body: Uint8Array | string): void;
  /** A piece of a stream. */
  piece(piece: Uint8Array | string): void;
  /** It is over. `complete`: all of it has left. `cut`: it was broken off here. `gone`: the client had left. */
  end(outcome: 'complete' | 'cut' | 'gone'): void;
}

/**
 * Writes a reply. A stream that fails half-way cuts the connection instead of leaving the client to wait, and its
 * error is thrown; that the client has gone is none.
 */
export function writeReply(
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
  writes: WriteCoalescing,
  pace: Pace,
  /** What every answer has beside the headers of the reply. */
  common: Readonly<Record<string, string>> = {},
  watcher?: ReplyWatcher,
): Promise<void> | undefined {
  discardUnread(request, response, reply.status);
  const body = bodyOf(reply, pace);
  if (isStream(body)) return writeStream(request, response, reply, body, common, watcher);
  const head = describeBody(reply, body, common);
  response.writeHead(reply.status, head);
  if (watcher) watchWhole(response, head, body, watcher);
  // A string leaves together with the head, in one piece. HEAD, 204 and 304 have no body; Node knows that.
  writes.end(response, body);
  return undefined;
}

async function writeStream(
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
  body: BodyStream,
  common: Readonly<Record<string, string>>,
  watcher: ReplyWatcher | undefined,
): Promise<void> {
  const type = reply.pieces && { 'content-type': JSON_TYPE };
  const head = { ...type, ...reply.headers, ...common } as OutgoingHttpHeaders;
  response.writeHead(reply.status, head);
  if (watcher) {
    watcher.head(head);
    watchEnd(response, watcher);
  }
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  try {
    for await (const piece of body) {
      watcher?.piece(piece);
      if (!response.write(piece)) await untilDrained(response);
      if (response.destroyed) return;
    }
    response.end();
  } catch (error) {
    if (response.destroyed) return;
    // The status line has left already; the client learns of it by a body that breaks off.
    watcher?.end('cut');
    response.destroy();
    throw error;
  }
}

/** A body of more bytes may still be on its way when it was handed over. */
const SENT_AT_ONCE = 64 * 1024;

function watchWhole(response: ServerResponse, head: OutgoingHttpHeaders, body: Body, watcher: ReplyWatcher): void {
  watcher.head(head);
  if (body !== undefined) watcher.whole(body);
  if (response.destroyed) watcher.end('gone');
  else if (body !== undefined && body.length > SENT_AT_ONCE) watchEnd(response, watcher);
  else watcher.end('complete');
}

function watchEnd(response: ServerResponse, watcher: ReplyWatcher): void {
  response.once('finish', () => watcher.end('complete'));
  response.once('close', () => watcher.end('gone'));
}

type Body = Uint8Array | string | undefined;
type BodyStream = AsyncIterable<Uint8Array | string>;

function isStream(body: Body | BodyStream): body is BodyStream {
  return typeof body === 'object' && Symbol.asyncIterator in body;
}

function bodyOf({ json, pieces, bytes, stream }: Reply, pace: Pace): Body | BodyStream {
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

/** Resolves when the client has taken what was written, or has gone. */
function untilDrained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.once('drain', done);
    response.once('close', done);
    if (response.destroyed) done();
  });
}

/** The headers of a reply whose body is at hand. */
function describeBody(
  { status, headers }: Reply,
  body: Body,
  common: Readonly<Record<string, string>>,
): OutgoingHttpHeaders {
  if (status === 204 || status === 304) return { ...headers, ...common };
  if (body === undefined) return { ...headers, ...common, 'content-length': 0 };
  const type = typeof body === 'string' ? JSON_TYPE : 'application/octet-stream';
  return { 'content-type': type, 'content-length': Buffer.byteLength(body), ...headers, ...common };
}
