import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Milliseconds (real time) that a client must read its response before the connection is cut. Counted from the last
 * byte of a discarded body, or from closing the sending side.
 */
const QUIET_TIMEOUT = 2_000;
/**
 * Maximum time, in milliseconds of real time, to discard a body after the response, even if the client keeps sending.
 */
const MAX_DISCARD_TIME = 10_000;

/** Maximum length, in bytes, of a body that costs less to read than a new connection of the client. */
const MAX_DISCARDED_LENGTH = 16 * 1024 * 1024;

/**
 * Discards the rest of a request body that was not read, for a limited time. The client may still be sending it, and
 * closing the connection at once would reset it and lose the response. Node discards a body only if nothing of it was
 * read; a partly read body would block its connection.
 */
export function discardUnread(request: IncomingMessage, response: ServerResponse, status: number): void {
  // Use the response's socket, because Node detaches the request's socket when its body fails.
  const { socket } = response;
  if (request.complete || socket === null || !hasBody(request)) return;
  // RFC 9110, section 15.5.9: the server does not wait for a client that stopped sending.
  if (status === 408 || (status >= 400 && !isWorthReading(request))) {
    response.shouldKeepAlive = false;
    socket.destroySoon = () => lingeringClose(socket);
  }
  // Start reading. Node would otherwise drop the body without a 'data' event, so the client's progress would not be
  // seen.
  request.read(0);
  response.once('finish', () => {
    if (request.destroyed) return;
    // Leave a complete request alone, because its connection may already serve other requests.
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

/** Reads the rest of a body and discards it. */
export function discardRest(request: IncomingMessage, onData: () => void = () => {}): void {
  // Remove the listener of a reader that stopped half-way, because the listener keeps the stream paused. Its removal
  // pauses the stream once more in the next tick, so resume the stream after that.
  request.removeAllListeners('readable');
  setImmediate(() => request.on('data', onData).resume());
}

/**
 * Returns true if the request has a body: a request without these headers has none (RFC 9112, section 6.3). Node sets
 * `request.complete` too late, after it has emitted the request.
 */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

/** Returns true if the body has a known length, and is short. */
function isWorthReading({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return length !== undefined && Number(length) <= MAX_DISCARDED_LENGTH;
}

/**
 * Closes a connection whose client may still be sending (RFC 9112, section 9.6). Closes the sending side first, and the
 * whole connection when the client has closed its side or after `QUIET_TIMEOUT` milliseconds. Closing both sides at
 * once would make the system reset the connection when more data arrives, and the reset can overtake the response.
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
