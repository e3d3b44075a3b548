import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Time in milliseconds (real time) that a client has to read its response before the server closes the connection. It
 * begins again with each byte of a discarded body, or begins when the server has closed its sending side.
 */
const QUIET_TIMEOUT = 2_000;
/**
 * Maximum time in milliseconds (real time) for which the server discards a request body after the response, even if the
 * client continues to send.
 */
const MAX_DISCARD_TIME = 10_000;

/**
 * Maximum length in bytes of an unread body that the server reads and discards to keep the connection. Reading such a
 * body costs less than a new connection of the client.
 */
const MAX_DISCARDED_LENGTH = 16 * 1024 * 1024;

/**
 * Reads and discards the rest of a request body that the handler has not read, for a limited time. The client may still
 * be sending the body. If the server closed the connection at once, the connection would be reset and the client would
 * lose the response. Node discards a body only if nothing of it was read, and a partly read body would block its
 * connection.
 */
export function discardUnread(request: IncomingMessage, response: ServerResponse, status: number): void {
  // The socket is taken from the response, because Node detaches it from the request when the body fails.
  const { socket } = response;
  if (request.complete || socket === null || !hasBody(request)) return;
  // After a 408, the connection is closed, because the client has stopped sending (RFC 9110, section 15.5.9).
  if (status === 408 || (status >= 400 && !isWorthReading(request))) {
    response.shouldKeepAlive = false;
    socket.destroySoon = () => lingeringClose(socket);
  }
  // The reading starts here, because Node would otherwise drop the body without a 'data' event, and the progress of the
  // client could not be observed.
  request.read(0);
  response.once('finish', () => {
    if (request.destroyed) return;
    // A complete request is not destroyed, because its connection may already serve the next request.
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

/** Reads the rest of a request body and discards it. Calls `onData` when bytes arrive. */
export function discardRest(request: IncomingMessage, onData: () => void = () => {}): void {
  // A reader that stopped half-way has left a listener that keeps the stream paused, so it is removed. Its removal
  // pauses the stream once more in the next tick, so the stream is resumed after that.
  request.removeAllListeners('readable');
  setImmediate(() => request.on('data', onData).resume());
}

/**
 * Returns true if the request has a body. A request without these headers has no body (RFC 9112, section 6.3).
 * `request.complete` cannot be used, because Node sets it only after it has emitted the request.
 */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

/**
 * Returns true if the body has a known length and is short enough to be discarded instead of closing the connection.
 */
function isWorthReading({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return length !== undefined && Number(length) <= MAX_DISCARDED_LENGTH;
}

/**
 * Closes a connection whose client may still be sending (RFC 9112, section 9.6). Closes the sending side first, and the
 * whole connection when the client has closed its side or after `QUIET_TIMEOUT` milliseconds. If both sides were closed
 * at once, the operating system would reset the connection when more data arrives, and the client could lose the
 * response.
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
