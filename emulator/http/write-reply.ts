import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { discardUnread } from './lingering-close.js';
import { type Body, type BodyStream, bodyOf, describeBody, isStream, type Pace, type Reply } from './reply.js';
import { cutResponse, endConnection, ResponseCut, type StallLimits } from './response-cut.js';
import type { WriteCoalescing } from './write-coalescing.js';

/** Observes a response while it is sent. For example, the journal records all requests and responses for tests. */
export interface ReplyWatcher {
  head(fields: OutgoingHttpHeaders): void;
  /** Called once with the whole body if it is in memory. */
  whole(body: Uint8Array | string): void;
  /** Called with each piece of the body if the body is a stream. */
  piece(piece: Uint8Array | string): void;
  /**
   * Called at the end of the response.
   *
   * - `complete`: the whole response was sent
   * - `cut`: the server ended the connection before the response was complete
   * - `gone`: the client disconnected
   */
  end(outcome: 'complete' | 'cut' | 'gone'): void;
}

export interface WriteOptions {
  readonly writes: WriteCoalescing;
  readonly pace: Pace;
  /** Headers that every response has in addition to those of the reply. */
  readonly common?: Readonly<Record<string, string>> | undefined;
  readonly watcher?: ReplyWatcher | undefined;
  /** Limits of a stall, in which a fault (simulated failure) stops the response and keeps the connection open. */
  readonly stallLimits?: StallLimits | undefined;
}

/**
 * Writes a reply to the client. If the stream of the body fails half-way, closes the connection so that the client does
 * not wait for the rest, and throws the stream's error. A disconnect of the client is not an error.
 */
export function writeReply(
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
  options: WriteOptions,
): Promise<void> | undefined {
  const { writes, pace, common = NO_HEADERS, watcher, stallLimits } = options;
  if (reply.cut !== undefined) {
    // Notifies the watcher first. Otherwise the end of the connection would look like a disconnect of the client.
    watcher?.end('cut');
    return cutResponse(request, response, reply, { pace, common, stallLimits: stallLimits });
  }
  discardUnread(request, response, reply.status);
  const body = bodyOf(reply, pace);
  if (isStream(body)) return writeStream(request, response, reply, body, options);
  const head = describeBody(reply, body, common);
  response.writeHead(reply.status, head);
  // Passes the body to `end`, because Node then sends a string body and the header in one write. Node itself omits the
  // body for HEAD, 204 and 304.
  writes.end(response, body, watcher && watchWhole(response, head, body, watcher));
  return undefined;
}

const NO_HEADERS = {};

async function writeStream(
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
  body: BodyStream,
  { common = NO_HEADERS, watcher, stallLimits }: WriteOptions,
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
      return endConnection(request, response, error.how, stallLimits);
    }
    // Destroys the connection, because the status was already sent. The client detects the error by the incomplete
    // body.
    watcher?.end('cut');
    response.destroy();
    throw error;
  }
}

/**
 * Maximum length in bytes of a body that counts as sent as soon as it is passed to the socket. A longer body counts as
 * sent only when its transmission has ended.
 */
const MAX_UNTRACKED_BYTES = 64 * 1024;

/**
 * Notifies the watcher of a response whose body is in memory. Returns a function that reports the end of the response;
 * the caller must call it when it passes the response to the socket. Returns undefined if the end is reported in
 * another way.
 */
function watchWhole(
  response: ServerResponse,
  head: OutgoingHttpHeaders,
  body: Body,
  watcher: ReplyWatcher,
): (() => void) | undefined {
  watcher.head(head);
  if (body !== undefined) watcher.whole(body);
  if (response.destroyed) watcher.end('gone');
  else if (body !== undefined && body.length > MAX_UNTRACKED_BYTES) watchEnd(response, watcher);
  else return () => watcher.end(response.destroyed ? 'gone' : 'complete');
  return undefined;
}

function watchEnd(response: ServerResponse, watcher: ReplyWatcher): void {
  response.once('finish', () => watcher.end('complete'));
  response.once('close', () => watcher.end('gone'));
}

/**
 * Resolves when the back-pressure ends, because the client has read enough of the written bytes, or when the client
 * disconnects.
 */
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
