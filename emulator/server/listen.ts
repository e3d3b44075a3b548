import http from 'node:http';
import type https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { MAX_HEADER_BYTES } from '../config/limits.js';
import { lingeringClose } from '../http/lingering-close.js';
import { ConnectionNames } from '../pipeline/connection-names.js';
import type { Identity } from '../tls/authority.js';
import type { RenewedIdentity } from '../tls/renewal.js';
import type { CurrentWorld } from '../world/current-world.js';
import { admitConnections, type OtherWorlds } from './accept-faults.js';
import { connectionEvent, peerOf } from './connection-event.js';
import { refuseUnreadable } from './unreadable.js';

interface ConnectionPorts {
  readonly names?: ConnectionNames;
  readonly others?: OtherWorlds | undefined;
  /** Parameters of the HTTPS server; undefined for an HTTP server. */
  readonly secured?: HttpsParameters | undefined;
}

/**
 * Parameters of an HTTPS server. They include `createServer` of `node:https`, because this module must not import it:
 * `node:https` is loaded only if HTTPS is served.
 */
export interface HttpsParameters {
  readonly createServer: typeof https.createServer;
  readonly identity: Identity;
  /** Source of renewed certificates, which replace `identity`; undefined if the certificate is not renewed. */
  readonly renewal?: RenewedIdentity | undefined;
}

/**
 * Creates an HTTP or HTTPS server with the configured limits, such as timeouts. The server does not listen yet. `app`
 * handles the requests.
 */
export function createServer(
  app: http.RequestListener,
  current: CurrentWorld,
  { names = new ConnectionNames(), others, secured }: ConnectionPorts = {},
): http.Server {
  const { limits } = current.config;
  const lastResponses = new WeakMap<Socket, http.ServerResponse>();
  const options: http.ServerOptions = {
    keepAliveTimeout: limits.keepAliveTimeout,
    headersTimeout: limits.headersTimeout,
    // The duration of a whole request is unlimited, because a push may take long. Pauses are limited instead, by the
    // idle timeout of bodies.
    requestTimeout: 0,
    connectionsCheckingInterval: 5_000,
    maxHeaderSize: MAX_HEADER_BYTES,
    // The check for `Host` is off, because the pipeline (steps that check a request) makes it and reports the error in
    // the format of the API.
    requireHostHeader: false,
  };
  const server = secured ? createSecureServer(options, secured, limits.headersTimeout) : http.createServer(options);
  admitConnections(server, current, { names, others });
  server.maxConnections = limits.maxSockets;
  // Half-open connections are allowed, because a client may close its sending side when it has sent its request.
  // Otherwise, Node would take this for a disconnect. Node has no public option for it.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.maxRequestsPerSocket = 1_000;
  // The limit is one more than allowed, because Node drops further headers silently and the pipeline must see that
  // there are too many.
  server.maxHeadersCount = limits.maxHeaders + 1;

  const receive = (request: http.IncomingMessage, response: http.ServerResponse): void => {
    // If the previous response closes the connection, later requests on it are not executed (RFC 9112, section 9.6).
    if (lastResponses.get(request.socket)?.shouldKeepAlive === false) {
      request.resume();
      return;
    }
    lastResponses.set(request.socket, response);
    // The connection is closed after a request for a protocol upgrade, because Node loses bytes that arrive together
    // with the end of such a request.
    if (isUpgrade(request)) response.shouldKeepAlive = false;
    app(request, response);
  };
  // The events for an `Expect` header have the same handler, because the pipeline decides how the header is handled.
  server.on('request', receive).on('checkContinue', receive).on('checkExpectation', receive);
  server.on('connect', (request: http.IncomingMessage, socket: Socket) => {
    handleConnect(request, socket, lastResponses.get(socket), receive);
  });
  server.on(connectionEvent(server), (socket: Socket) => {
    // The method is replaced, because Node would close both directions of a connection as soon as the last response has
    // been sent, and the client could lose the response.
    socket.destroySoon = () => lingeringClose(socket);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    refuseUnreadable(error, socket, lastResponses.get(socket), current.world);
  });
  return server;
}

/**
 * Creates an HTTPS server. A connection that fails before HTTP begins, for example in the handshake, is closed without
 * an HTTP response.
 */
function createSecureServer(
  options: http.ServerOptions,
  { createServer, identity, renewal }: HttpsParameters,
  handshakeTimeout: number,
): http.Server {
  const { cert, key } = renewal?.current ?? identity;
  const server = createServer({ ...options, cert, key, handshakeTimeout, allowHalfOpen: true });
  const unsubscribe = renewal?.onRenewed((next) => server.setSecureContext({ cert: next.cert, key: next.key }));
  if (unsubscribe) server.once('close', unsubscribe);
  server.removeAllListeners('tlsClientError').on('tlsClientError', (_error: Error, socket: Socket) => socket.destroy());
  const tcpSockets = new Map<string, Socket>();
  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket);
    tcpSockets.set(peer, socket);
    socket.once('close', () => tcpSockets.get(peer) === socket && tcpSockets.delete(peer));
  });
  server.on('secureConnection', (socket: Socket) => {
    // The TCP connection below the TLS connection is reset, because Node cannot reset TLS connections.
    const raw = tcpSockets.get(peerOf(socket));
    socket.resetAndDestroy = () => {
      raw?.resetAndDestroy();
      return socket.destroy();
    };
  });
  return server;
}

/**
 * Returns true if Node's parser takes the request for a protocol upgrade. The server never upgrades a connection (RFC
 * 9110, section 7.8).
 */
function isUpgrade({ headers }: http.IncomingMessage): boolean {
  return headers.upgrade !== undefined && /(?:^|[\s,])upgrade(?:$|[\s,])/i.test(headers.connection ?? '');
}

/**
 * Handles a CONNECT request. Creates its response, because Node creates none. Passes both to the pipeline when the
 * previous response on the connection has been sent.
 */
function handleConnect(
  request: http.IncomingMessage,
  socket: Socket,
  previous: http.ServerResponse | undefined,
  receive: http.RequestListener,
): void {
  // The bytes after the request are read and discarded, because Node would not notice the end of the connection
  // otherwise.
  socket.on('error', () => socket.destroy()).resume();
  const handle = () => {
    const response = new http.ServerResponse(request);
    response.assignSocket(socket);
    response.shouldKeepAlive = false;
    response.once('finish', () => lingeringClose(socket));
    receive(request, response);
  };
  if (!previous || previous.writableFinished) {
    handle();
    return;
  }
  // The event is passed to the previous response, because Node removes its own 'drain' listener together with the
  // parser.
  socket.on('drain', () => previous.emit('drain'));
  previous.once('finish', handle);
}

/**
 * Makes the server listen, and resolves to the bound port (a free one if `port` is 0). Rejects with the error of the
 * operating system (`EADDRINUSE`, …).
 */
export function listen(server: http.Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}
