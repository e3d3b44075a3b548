import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { lingeringClose } from '../http/lingering-close.js';
import { connectionEvent, peerOf } from './connection-event.js';

export interface DrainOptions {
  /** Time in milliseconds (real time) after which all running requests are aborted, even if they make progress. */
  readonly graceMs: number;
  /**
   * Maximum time in milliseconds (real time) for which a client may stall its request during the drain, by not sending
   * its body or not reading its response.
   */
  readonly idleMs: number;
}

/**
 * Open connections of one server, with the request that runs on each, so that the server can be shut down without
 * aborting requests. Node's own list of idle connections lacks those that never sent a whole request header, and Node
 * does not report clients that stopped in the middle of a request.
 */
export class Connections {
  /**
   * Open connections with the response to the last request that began on each; undefined if no request began. The last
   * response is enough, because responses are sent in the order of their requests and the last one ends last.
   */
  readonly #lastResponses = new Map<Socket, ServerResponse | undefined>();
  /** TCP connections below the TLS connections, including those whose TLS handshake has not ended. */
  readonly #tcpSockets = new Set<Socket>();
  #isDraining = false;

  /**
   * Returns an application that passes requests to `app` and records their responses. Requests that begin during the
   * drain are ignored, so that no request is executed partly.
   */
  serve(app: RequestListener): RequestListener {
    return (request: IncomingMessage, response: ServerResponse) => {
      if (this.#isDraining) return;
      this.#lastResponses.set(request.socket, response);
      app(request, response);
    };
  }

  /** Begins to record the connections of a server, which must not listen yet. */
  watch(server: Server): void {
    // The method is replaced by one without effect, because `server.close()` calls it and it would close connections
    // whose clients have not read the last response yet.
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
   * Stops listening and closes all connections: at once those on which no request runs, and each other connection when
   * its request has ended or one of the time limits is reached. Resolves when all are closed.
   */
  async drain(server: Server, { graceMs, idleMs }: DrainOptions): Promise<void> {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    // The minimum is 1 ms, because a socket timeout of 0 means no limit.
    const idleTimeout = Math.max(1, idleMs);
    const graceTimer = setTimeout(() => this.#cutAll(), graceMs);
    // The drain begins two turns of the event loop later, because requests that have already arrived completely begin
    // within these turns.
    await setImmediate();
    await setImmediate();
    this.#isDraining = true;
    // The listener decides which quiet connections are closed. Without a listener for 'timeout', Node would close all
    // of them.
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

  /**
   * Returns true if a connection without traffic waits for its client, which does not send or read; false if it waits
   * for the processing of its request.
   */
  #isStalledByClient(socket: Socket): boolean {
    const request = this.#lastResponses.get(socket)?.req;
    const isBodyPending = request !== undefined && !request.complete && request.readableLength === 0;
    return isBodyPending || socket.writableLength > 0;
  }
}

/**
 * Closes a connection on which no request runs. If a response has just been written, it is closed so that the response
 * still reaches the client.
 */
function closeIdle(socket: Socket, response: ServerResponse | undefined): void {
  if (response === undefined || !response.writableFinished) socket.destroy();
  else if (response.req.complete) socket.destroySoon();
  else lingeringClose(socket);
}
