import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { discardUnread } from './lingering-close.js';
import { type Body, type BodyStream, bodyOf, describeBody, isStream, type Pace, type Reply } from './reply.js';
import { cutResponse, endConnection, type Patience, ResponseCut } from './response-cut.js';
import type { WriteCoalescing } from './write-coalescing.js';

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

export interface WriteOptions {
  readonly writes: WriteCoalescing;
  readonly pace: Pace;
  /** What every answer has beside the headers of the reply. */
  readonly common?: Readonly<Record<string, string>> | undefined;
  readonly watcher?: ReplyWatcher | undefined;
  /** How long an answer that was asked to stall does. */
  readonly patience?: Patience | undefined;
}

/**
 * Writes a reply. A stream that fails half-way cuts the connection instead of leaving the client to wait, and its
 * error is thrown; that the client has gone is none.
 */
export function writeReply(
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
  options: WriteOptions,
): Promise<void> | undefined {
  const { writes, pace, common = NO_HEADERS, watcher, patience } = options;
  if (reply.cut !== undefined) {
    // Who is told hears it before the connection ends, which would look as if the client had left.
    watcher?.end('cut');
    return cutResponse(request, response, reply, { pace, common, patience });
  }
  discardUnread(request, response, reply.status);
  const body = bodyOf(reply, pace);
  if (isStream(body)) return writeStream(request, response, reply, body, options);
  const head = describeBody(reply, body, common);
  response.writeHead(reply.status, head);
  // A string leaves together with the head, in one piece. HEAD, 204 and 304 have no body; Node knows that.
  writes.end(response, body, watcher && watchWhole(response, head, body, watcher));
  return undefined;
}

const NO_HEADERS = {};

async function writeStream(
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
  body: BodyStream,
  { common = NO_HEADERS, watcher, patience }: WriteOptions,
): Promise<void> {
  const head = describeBody(reply, body, common);
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
    if (error instanceof ResponseCut) {
      watcher?.end('cut');
      return endConnection(request, response, error.how, patience);
    }
    // The status line has left already; the client learns of it by a body that breaks off.
    watcher?.end('cut');
    response.destroy();
    throw error;
  }
}

/** A body of more bytes may still be on its way when it was handed over. */
const SENT_AT_ONCE = 64 * 1024;

/** Tells the watcher of a body that is at hand. Returns what tells it of the end, unless events of the response do. */
function watchWhole(
  response: ServerResponse,
  head: OutgoingHttpHeaders,
  body: Body,
  watcher: ReplyWatcher,
): (() => void) | undefined {
  watcher.head(head);
  if (body !== undefined) watcher.whole(body);
  if (response.destroyed) watcher.end('gone');
  else if (body !== undefined && body.length > SENT_AT_ONCE) watchEnd(response, watcher);
  else return () => watcher.end(response.destroyed ? 'gone' : 'complete');
  return undefined;
}

function watchEnd(response: ServerResponse, watcher: ReplyWatcher): void {
  response.once('finish', () => watcher.end('complete'));
  response.once('close', () => watcher.end('gone'));
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
