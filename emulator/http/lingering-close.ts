import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Time in milliseconds (real time) that a client has to read its response before the server closes the connection. It
 * starts again with each received byte of a discarded body. It also starts when the server closes its sending side.
 */
const QUIET_TIMEOUT = 2_000;
/**
 * Maximum time for which the server discards a request body after the response, in milliseconds of real time. It
 * applies even if the client continues to send.
 */
const MAX_DISCARD_TIME = 10_000;

/**
 * Maximum length, in bytes, of an unread body that the server reads and discards to keep the connection open. Up to
 * this length, reading costs less than a new connection.
 */
const MAX_DISCARDED_LENGTH = 16 * 1024 * 1024;

/**
 * Reads and discards the rest of a request body that the handler has not read, for a limited time. The client may still
 * be sending it. Closing the connection at once would reset it, and the client would lose the response.
 *
 * Node discards a body only if no part of it was read. A partly read body would block its connection.
 */
export function discardUnread(request: IncomingMessage, response: ServerResponse, status: number): void {
  // Uses the socket of the response, because Node detaches the socket from the request when the body fails.
  const { socket } = response;
  if (request.complete || socket === null || !hasBody(request)) return;
  // Closes the connection after a 408, because the client has stopped sending (RFC 9110, section 15.5.9).
  if (status === 408 || (status >= 400 && !isWorthReading(request))) {
    response.shouldKeepAlive = false;
    socket.destroySoon = () => lingeringClose(socket);
  }
  // Starts reading now. Otherwise, Node would drop the body without 'data' events, which show that the client is still
  // sending.
  request.read(0);
  response.once('finish', () => {
    if (request.destroyed) return;
    // Does not destroy a complete request, because its connection may already serve the next request.
    const cut = () => request.complete || request.destroy();
    const quietTimer = setTimeout(cut, QUIET_TIMEOUT).unref();
    const maxTimer = setTimeout(cut, MAX_DISCARD_TIME).unref();
    request.once('close', () => {
      clearTimeout(quietTimer);
      clearTimeout(maxTimer);
    });
    discardRest(request, () => quietTimer.refresh());
  });
}

/** Reads and discards the rest of a request body. Calls `onData` for each chunk that arrives. */
export function discardRest(request: IncomingMessage, onData: () => void = () => {}): void {
  // A reader that stopped half-way has left a listener that keeps the stream paused. Removing the listener pauses the
  // stream again in the next tick, so the stream is resumed after that tick.
  request.removeAllListeners('readable');
  setImmediate(() => request.on('data', onData).resume());
}

/**
 * Returns true if the request has a body. Without one of these headers, it has none (RFC 9112, section 6.3).
 * `request.complete` cannot be used, because Node sets it only after emitting the request.
 */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

/**
 * Returns true if the length of the body is known and short enough. The server then discards the body instead of
 * closing the connection.
 */
function isWorthReading({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return length !== undefined && Number(length) <= MAX_DISCARDED_LENGTH;
}

/**
 * Closes a connection whose client may still be sending (RFC 9112, section 9.6). Closes the sending side first. Closes
 * the rest when the client has closed its side, or after `QUIET_TIMEOUT` milliseconds.
 *
 * If both sides were closed at once, further data would make the operating system reset the connection, and the client
 * could lose the response.
 */
export function lingeringClose(socket: Socket): void {
  if (socket.readableEnded) {
    socket.end(() => socket.destroy());
    return;
  }
  socket.end();
  const timer = setTimeout(() => socket.destroy(), QUIET_TIMEOUT).unref();
  socket.once('end', () => socket.destroy());
  socket.once('close', () => clearTimeout(timer));
}
