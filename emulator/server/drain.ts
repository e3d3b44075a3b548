import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { lingeringClose } from '../http/lingering-close.js';
import { connectionEvent, peerOf } from './connection-event.js';

export interface DrainOptions {
  /** Milliseconds (real time) after which running requests are cut, even if they make progress. */
  readonly graceMs: number;
  /**
   * Milliseconds (real time) for which a client may stall its request, by not sending the body or not reading the
   * response.
   */
  readonly idleMs: number;
}

/**
 * Connections of one server, with the request that runs on each. Node's own list of idle connections lacks those that
 * never sent a whole request header, and Node does not report clients that stopped half-way.
 */
export class Connections {
  /**
   * Open connections with the response to the last request that began on each; undefined if no request began. Responses
   * are sent in order, so the last one ends last.
   */
  readonly #lastResponses = new Map<Socket, ServerResponse | undefined>();
  /** TCP connections under the TLS connections, including those whose handshake has not ended. */
  readonly #tcpSockets = new Set<Socket>();
  #isDraining = false;

  /** Wraps `app`. Requests that begin during the drain are ignored, so that none is executed by half. */
  serve(app: RequestListener): RequestListener {
    return (request: IncomingMessage, response: ServerResponse) => {
      if (this.#isDraining) return;
      this.#lastResponses.set(request.socket, response);
      app(request, response);
    };
  }

  /** Begins to watch the connections of a server, which must not listen yet. */
  watch(server: Server): void {
    // `server.close()` calls this method, which would cut responses that clients have not read yet.
    server.closeIdleConnections = () => {};
    const event = connectionEvent(server);
    server.on(event, (socket: Socket) => {
      this.#lastResponses.set(socket, undefined);
      socket.once('close', () => this.#lastResponses.delete(socket));
    });
    if (event === 'connection') return;
    server.on('connection', (socket: Socket) => {
      this.#tcpSockets.add(socket);
      socket.once('close', () => this.#tcpSockets.delete(socket));
    });
  }

  /**
   * Stops listening. Cuts connections without a request at once, and each other connection when its request has ended
   * or its time is over.
   */
  async drain(server: Server, { graceMs, idleMs }: DrainOptions): Promise<void> {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    // A socket timeout of 0 would mean no limit.
    const idleTimeout = Math.max(1, idleMs);
    const graceTimer = setTimeout(() => this.#cutAll(), graceMs);
    // Requests that have already arrived completely begin within two turns of the event loop.
    await setImmediate();
    await setImmediate();
    this.#isDraining = true;
    // With a listener for 'timeout', Node does not cut quiet connections itself.
    server.on('timeout', (socket: Socket) => {
      if (this.#isStalledByClient(socket)) socket.destroy();
      else socket.setTimeout(idleTimeout);
    });
    const begun = new Set([...this.#lastResponses.keys()].map(peerOf));
    for (const socket of this.#tcpSockets) if (!begun.has(peerOf(socket))) socket.destroy();
    for (const [socket, response] of this.#lastResponses) {
      if (response === undefined || response.closed) closeIdle(socket, response);
      else {
        if (!response.headersSent) response.shouldKeepAlive = false;
        response.once('close', () => closeIdle(socket, response));
        socket.setTimeout(idleTimeout);
      }
    }
    await closed;
    clearTimeout(graceTimer);
  }

  #cutAll(): void {
    for (const socket of [...this.#lastResponses.keys(), ...this.#tcpSockets]) socket.destroy();
  }

  /** Returns true if a quiet connection waits for its client, and false if it waits for the work of its request. */
  #isStalledByClient(socket: Socket): boolean {
    const request = this.#lastResponses.get(socket)?.req;
    const isBodyPending = request !== undefined && !request.complete && request.readableLength === 0;
    return isBodyPending || socket.writableLength > 0;
  }
}

/** Closes a connection on which no request runs. A response that has just been written still reaches the client. */
function closeIdle(socket: Socket, response: ServerResponse | undefined): void {
  if (response === undefined || !response.writableFinished) socket.destroy();
  else if (response.req.complete) socket.destroySoon();
  else lingeringClose(socket);
}
