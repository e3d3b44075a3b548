import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { lingeringClose } from '../http/lingering-close.js';
import { connectionEvent, peerOf } from './connection-event.js';

export interface DrainOptions {
  /** Milliseconds (real time) running requests get, whatever they do. */
  readonly graceMs: number;
  /** Milliseconds (real time) a client may hold up its request: by sending nothing of its body, or taking nothing. */
  readonly idleMs: number;
}

/**
 * The connections of one server, and the request that runs on each. Node's own idea of an idle connection leaves out
 * those that never sent a whole request head, and says nothing about clients that stopped in the middle.
 */
export class Connections {
  /** Every open connection with the last request that began on it: answers leave in order, so it is done last. */
  readonly #latest = new Map<Socket, ServerResponse | undefined>();
  /** The connections under those that speak TLS, also while they begin to. */
  readonly #beneath = new Set<Socket>();
  #isDraining = false;

  /** `app`, for requests that begin before the drain; a later one is never begun, and never half done. */
  serve(app: RequestListener): RequestListener {
    return (request: IncomingMessage, response: ServerResponse) => {
      if (this.#isDraining) return;
      this.#latest.set(request.socket, response);
      app(request, response);
    };
  }

  /** Has to be told of the server before it listens. */
  watch(server: Server): void {
    // `server.close()` calls it, and would cut answers that have been written and not yet taken.
    server.closeIdleConnections = () => {};
    const event = connectionEvent(server);
    server.on(event, (socket: Socket) => {
      this.#latest.set(socket, undefined);
      socket.once('close', () => this.#latest.delete(socket));
    });
    if (event === 'connection') return;
    server.on('connection', (socket: Socket) => {
      this.#beneath.add(socket);
      socket.once('close', () => this.#beneath.delete(socket));
    });
  }

  /** Stops listening. Cuts at once what runs no request, then each connection when its request is done or its time is over. */
  async drain(server: Server, { graceMs, idleMs }: DrainOptions): Promise<void> {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    // 0 would be no limit.
    const pause = Math.max(1, idleMs);
    const cut = setTimeout(() => this.#cutAll(), graceMs);
    // What has arrived completely has begun: between two turns the system hands it over.
    await setImmediate();
    await setImmediate();
    this.#isDraining = true;
    // A listener of its own keeps Node from cutting whatever is quiet.
    server.on('timeout', (socket: Socket) => {
      if (this.#isHeldUp(socket)) socket.destroy();
      else socket.setTimeout(pause);
    });
    const begun = new Set([...this.#latest.keys()].map(peerOf));
    for (const socket of this.#beneath) if (!begun.has(peerOf(socket))) socket.destroy();
    for (const [socket, response] of this.#latest) {
      if (response === undefined || response.closed) finish(socket, response);
      else {
        if (!response.headersSent) response.shouldKeepAlive = false;
        response.once('close', () => finish(socket, response));
        socket.setTimeout(pause);
      }
    }
    await closed;
    clearTimeout(cut);
  }

  #cutAll(): void {
    for (const socket of [...this.#latest.keys(), ...this.#beneath]) socket.destroy();
  }

  /** Whether a quiet connection waits for its client, and not for the work of its request. */
  #isHeldUp(socket: Socket): boolean {
    const request = this.#latest.get(socket)?.req;
    const owesBody = request !== undefined && !request.complete && request.readableLength === 0;
    return owesBody || socket.writableLength > 0;
  }
}

/** Closes a connection that runs nothing; an answer that has just been given still arrives. */
function finish(socket: Socket, response: ServerResponse | undefined): void {
  if (response === undefined || !response.writableFinished) socket.destroy();
  else if (response.req.complete) socket.destroySoon();
  else lingeringClose(socket);
}
