import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Milliseconds (real time) that a client gets to take its answer before the connection is cut: since it last sent
 * something of a body that is not read any more, or since its connection was closed for sending.
 */
const QUIET = 2_000;
/** And since it was answered, however busily it goes on sending. */
const LONGEST = 10_000;

/** Bytes of a body up to which reading it costs less than the client's next connection. */
const WORTH_READING = 16 * 1024 * 1024;

/**
 * A request answered before its body was read may still be being sent. Closing at once would reset the connection
 * and lose the answer, so the rest is discarded, for a bounded time. Node does so by itself only for a body that was
 * not begun to be read; left alone, one that was given up half-way blocks its connection.
 */
export function discardUnread(request: IncomingMessage, response: ServerResponse, status: number): void {
  // Not the request's socket: a body whose reader failed has been parted from it.
  const { socket } = response;
  if (request.complete || socket === null || !hasBody(request)) return;
  // RFC 9110, 15.5.9: a client that stopped sending is not waited for.
  if (status === 408 || (status >= 400 && !isWorthReading(request))) {
    response.shouldKeepAlive = false;
    socket.destroySoon = () => lingeringClose(socket);
  }
  // Node drops what arrives of a body that was never read, and no 'data' tells that the client goes on sending.
  request.read(0);
  response.once('finish', () => {
    if (request.destroyed) return;
    // A request that has arrived completely is left alone: its connection may be serving other requests by now.
    const cut = () => request.complete || request.destroy();
    const quiet = setTimeout(cut, QUIET).unref();
    const longest = setTimeout(cut, LONGEST).unref();
    request.once('close', () => {
      clearTimeout(quiet);
      clearTimeout(longest);
    });
    // A reader that stopped half-way without saying so would keep the stream from flowing. That it is gone
    // stops the flow once more, a tick later; only after that does anything start it for good.
    request.removeAllListeners('readable');
    setImmediate(() => request.on('data', () => quiet.refresh()).resume());
  });
}

/** RFC 9112, 6.3: a request without these has no body. Node tells that it is complete only after it was handed over. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

/** Whether the body is known not to be long. */
function isWorthReading({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return length !== undefined && Number(length) <= WORTH_READING;
}

/**
 * Closes a connection whose client may still be sending (RFC 9112, 9.6): first for sending only, and altogether once
 * the client has closed it too or had the time to. Closed at once, it would be reset by what is still arriving, and a
 * reset can overtake the answer.
 */
export function lingeringClose(socket: Socket): void {
  if (socket.readableEnded) {
    socket.end(() => socket.destroy());
    return;
  }
  socket.end();
  const timer = setTimeout(() => socket.destroy(), QUIET).unref();
  socket.once('end', () => socket.destroy());
  socket.once('close', () => clearTimeout(timer));
}
