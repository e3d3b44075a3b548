import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { MAX_HEADER_BYTES } from '../config/limits.js';
import { lingeringClose } from '../http/lingering-close.js';
import { ConnectionNames } from '../pipeline/connection-names.js';
import type { CurrentWorld } from '../world/current-world.js';
import { admitConnections, type OtherWorlds } from './accept-faults.js';
import { connectionEvent, peerOf } from './connection-event.js';
import { admitHandshakes } from './handshake-faults.js';
import type { HttpsParameters } from './https-parameters.js';
import { RefusablePort } from './refusable-port.js';
import { refuseUnreadable } from './unreadable.js';

interface ConnectionPorts {
  readonly names?: ConnectionNames;
  readonly others?: OtherWorlds | undefined;
  /** Parameters of the HTTPS server; undefined for an HTTP server. */
  readonly secured?: HttpsParameters | undefined;
}

/**
 * Creates an HTTP or HTTPS server with the configured limits, such as timeouts. `app` handles the requests. The server
 * does not listen yet.
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
    // The duration of a whole request is unlimited, because a push may take long. The idle timeout of bodies limits
    // pauses instead.
    requestTimeout: 0,
    connectionsCheckingInterval: 5_000,
    maxHeaderSize: MAX_HEADER_BYTES,
    // Node's check of `Host` is off. The pipeline (steps that check a request) makes this check, so that the error has
    // the API's format.
    requireHostHeader: false,
  };
  const server = secured ? createSecureServer(options, secured, limits.headersTimeout) : http.createServer(options);
  admitConnections(server, current, { names, others, port: new RefusablePort(server) });
  if (secured) admitHandshakes(server, current, { names, secured });
  server.maxConnections = limits.maxSockets;
  // Half-open connections are allowed, because a client may close its sending side after its request. Node would treat
  // this as a disconnect. Node has no public option for it.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.maxRequestsPerSocket = 1_000;
  // The limit is one more than allowed. Node drops further headers silently, so the pipeline sees the extra header and
  // knows that there are too many.
  server.maxHeadersCount = limits.maxHeaders + 1;

  const receive = (request: http.IncomingMessage, response: http.ServerResponse): void => {
    // After a response that closes the connection, later requests on it are not executed (RFC 9112, section 9.6).
    if (lastResponses.get(request.socket)?.shouldKeepAlive === false) {
      request.resume();
      return;
    }
    lastResponses.set(request.socket, response);
    // A request for a protocol upgrade closes the connection, because Node loses bytes that arrive together with the
    // end of such a request.
    if (isUpgrade(request)) response.shouldKeepAlive = false;
    app(request, response);
  };
  // Requests with an `Expect` header have the same handler, because the pipeline decides what to do with the header.
  server.on('request', receive).on('checkContinue', receive).on('checkExpectation', receive);
  server.on('connect', (request: http.IncomingMessage, socket: Socket) => {
    handleConnect(request, socket, lastResponses.get(socket), receive);
  });
  server.on(connectionEvent(server), (socket: Socket) => {
    // This method is replaced, because the client could lose the response. Node would close both directions of the
    // connection as soon as the last response was sent.
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
    // Node cannot reset a TLS connection, so the TCP connection below it is reset.
    const raw = tcpSockets.get(peerOf(socket));
    socket.resetAndDestroy = () => {
      raw?.resetAndDestroy();
      return socket.destroy();
    };
  });
  return server;
}

/**
 * Returns true if Node's parser treats the request as a protocol upgrade. The server never upgrades a connection (RFC
 * 9110, section 7.8).
 */
function isUpgrade({ headers }: http.IncomingMessage): boolean {
  return headers.upgrade !== undefined && /(?:^|[\s,])upgrade(?:$|[\s,])/i.test(headers.connection ?? '');
}

/**
 * Handles a CONNECT request. Node creates no response for it, so this function does. Passes both to the pipeline after
 * the previous response on the connection has been sent.
 */
function handleConnect(
  request: http.IncomingMessage,
  socket: Socket,
  previous: http.ServerResponse | undefined,
  receive: http.RequestListener,
): void {
  // The bytes after the request are read and discarded. Otherwise Node would not notice the end of the connection.
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
 * Makes the server listen. Resolves to the bound port; 0 binds any free port. Rejects with the error of the operating
 * system (`EADDRINUSE`, …).
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
