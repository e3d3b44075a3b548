import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { discardUnread } from './lingering-close.js';
import { type Body, type BodyStream, bodyOf, describeBody, isStream, type Pace, type Reply } from './reply.js';
import { cutResponse, endConnection, ResponseCut, type StallLimits } from './response-cut.js';
import type { WriteCoalescing } from './write-coalescing.js';

/** Observes a response while it is sent. For example, the journal records all requests and responses for tests. */
export interface ReplyWatcher {
  head(fields: OutgoingHttpHeaders): void;
  /** Called once with the body if it is completely in memory. */
  whole(body: Uint8Array | string): void;
  /** Called for each piece of the body if the body is a stream. */
  piece(piece: Uint8Array | string): void;
  /**
   * Called at the end of the response. `complete` means that the whole response was sent. `cut` means that the server
   * ended the connection too early, and `gone` that the client disconnected.
   */
  end(outcome: 'complete' | 'cut' | 'gone'): void;
}

export interface WriteOptions {
  readonly writes: WriteCoalescing;
  readonly pace: Pace;
  /** Headers that every response has, in addition to the headers of its reply. */
  readonly common?: Readonly<Record<string, string>> | undefined;
  readonly watcher?: ReplyWatcher | undefined;
  /** Limits for the time that a fault (simulated failure) may stall the response. */
  readonly stallLimits?: StallLimits | undefined;
}

/**
 * Writes a reply to the client. If the body stream fails half-way, closes the connection, so that the client does not
 * wait for the rest, and throws the stream's error. A disconnect of the client is not an error.
 */
export function writeReply(
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
  options: WriteOptions,
): Promise<void> | undefined {
  const { writes, pace, common = NO_HEADERS, watcher, stallLimits } = options;
  if (reply.cut !== undefined) {
    // Notifies the watcher first. Otherwise, the end of the connection would look like a disconnect of the client.
    watcher?.end('cut');
    return cutResponse(request, response, reply, { pace, common, stallLimits: stallLimits });
  }
  discardUnread(request, response, reply.status);
  const body = bodyOf(reply, pace);
  if (isStream(body)) return writeStream(request, response, reply, body, options);
  const head = describeBody(reply, body, common);
  response.writeHead(reply.status, head);
  // Passes the body to `end`, because Node then sends a text body in one write with the header. Node itself omits the
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
    // The status has already been sent, so the connection is destroyed. The incomplete body shows the client that
    // something failed.
    watcher?.end('cut');
    response.destroy();
    throw error;
  }
}

/**
 * Maximum length, in bytes, of a body that counts as sent once it is passed to the socket. For a longer body, the end
 * is reported only when the transmission has ended.
 */
const MAX_UNTRACKED_BYTES = 64 * 1024;

/**
 * Notifies the watcher of a response whose body is in memory. If a function is returned, call it when the response is
 * passed to the socket: it reports the end of the response. Otherwise, the end is reported without the caller.
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
 * Waits for the end of back-pressure: resolves when the client has read enough of the written bytes, or has
 * disconnected.
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
