import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { lingeringClose } from '../http/lingering-close.js';
import { connectionEvent, peerOf } from './connection-event.js';

export interface DrainOptions {
  /** Time after which all running requests are aborted, even if they make progress. In milliseconds of real time. */
  readonly graceMs: number;
  /**
   * Maximum time for which a client may stall its request during the drain, in milliseconds of real time. A client
   * stalls if it does not send its body or does not read its response.
   */
  readonly idleMs: number;
}

/**
 * Open connections of one server, and the request that runs on each. With them, the server can shut down without
 * aborting requests. Node's own records are not sufficient. Its idle connections exclude those that never sent a whole
 * request header. It also does not report clients that stopped in the middle of a request.
 */
export class Connections {
  /**
   * Response to the last request of each open connection; undefined if no request began. The last response is enough,
   * because responses are sent in the order of their requests.
   */
  readonly #lastResponses = new Map<Socket, ServerResponse | undefined>();
  /** TCP connections below the TLS connections, including those in the TLS handshake. */
  readonly #tcpSockets = new Set<Socket>();
  #isDraining = false;

  /**
   * Returns a request listener that passes requests to `app` and records their responses. Requests that begin during
   * the drain are ignored, so that no request is executed only partly.
   */
  serve(app: RequestListener): RequestListener {
    return (request: IncomingMessage, response: ServerResponse) => {
      if (this.#isDraining) return;
      this.#lastResponses.set(request.socket, response);
      app(request, response);
    };
  }

  /** Begins to record the connections of a server. Call it before the server listens. */
  watch(server: Server): void {
    // This method is disabled, because `server.close()` calls it. It would close connections whose clients have not
    // read the last response yet.
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
   * Stops listening and closes all connections. Idle connections are closed at once. Other connections are closed when
   * their request has ended or a time limit is reached. Resolves when all connections are closed.
   */
  async drain(server: Server, { graceMs, idleMs }: DrainOptions): Promise<void> {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    // The minimum is 1 ms, because a socket timeout of 0 means no limit.
    const idleTimeout = Math.max(1, idleMs);
    const graceTimer = setTimeout(() => this.#cutAll(), graceMs);
    // The drain begins two turns of the event loop later. Within these turns, requests that have arrived completely can
    // still begin.
    await setImmediate();
    await setImmediate();
    this.#isDraining = true;
    // This listener decides which quiet connections are closed. Without a listener for 'timeout', Node would close all
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
   * Returns true if a quiet connection waits for its client, which does not send or read. Returns false if it waits for
   * the processing of its request.
   */
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
