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
  /** Parameters of an HTTPS server; an HTTP server if undefined. */
  readonly secured?: HttpsParameters | undefined;
}

/**
 * Parameters of an HTTPS server. They include `createServer` of `node:https`, which is loaded only if HTTPS is served.
 */
export interface HttpsParameters {
  readonly createServer: typeof https.createServer;
  readonly identity: Identity;
  /** Source of renewed certificates; undefined if the certificate is not renewed. */
  readonly renewal?: RenewedIdentity | undefined;
}

/** Creates an HTTP server with the limits of the world. The server does not listen yet. */
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
    // Whole requests have no limit, because a push may take long. Pauses have one: bodies have an idle timeout.
    requestTimeout: 0,
    connectionsCheckingInterval: 5_000,
    maxHeaderSize: MAX_HEADER_BYTES,
    // The pipeline requires `Host`, and reports a missing one in its own format.
    requireHostHeader: false,
  };
  const server = secured ? createSecureServer(options, secured, limits.headersTimeout) : http.createServer(options);
  admitConnections(server, current, { names, others });
  server.maxConnections = limits.maxSockets;
  // A client may close its sending side when it has sent its request. Node has no public option for this, and would
  // take it for a disconnect.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.maxRequestsPerSocket = 1_000;
  // One more than allowed, so that the pipeline sees that there were too many headers.
  server.maxHeadersCount = limits.maxHeaders + 1;

  const receive = (request: http.IncomingMessage, response: http.ServerResponse): void => {
    // RFC 9112, section 9.6: no request is executed after one whose response closes the connection.
    if (lastResponses.get(request.socket)?.shouldKeepAlive === false) {
      request.resume();
      return;
    }
    lastResponses.set(request.socket, response);
    // Close the connection after the response, because Node loses bytes that arrive together with the end of such a
    // request.
    if (isUpgrade(request)) response.shouldKeepAlive = false;
    app(request, response);
  };
  // The pipeline decides how an `Expect` header is handled.
  server.on('request', receive).on('checkContinue', receive).on('checkExpectation', receive);
  server.on('connect', (request: http.IncomingMessage, socket: Socket) => {
    handleConnect(request, socket, lastResponses.get(socket), receive);
  });
  server.on(connectionEvent(server), (socket: Socket) => {
    // Node would close both directions of a connection as soon as the last response has been sent.
    socket.destroySoon = () => lingeringClose(socket);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    refuseUnreadable(error, socket, lastResponses.get(socket), current.world);
  });
  return server;
}

/** Creates the server with TLS. Closes a connection that fails before HTTP begins, without an HTTP response. */
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
    // Node can reset only TCP connections, so reset the underlying one.
    const raw = tcpSockets.get(peerOf(socket));
    socket.resetAndDestroy = () => {
      raw?.resetAndDestroy();
      return socket.destroy();
    };
  });
  return server;
}

/**
 * Returns true if Node's parser takes the request for a protocol upgrade. The server never upgrades (RFC 9110, section
 * 7.8).
 */
function isUpgrade({ headers }: http.IncomingMessage): boolean {
  return headers.upgrade !== undefined && /(?:^|[\s,])upgrade(?:$|[\s,])/i.test(headers.connection ?? '');
}

/**
 * Creates the response to a CONNECT request, because Node creates none, and passes both to the pipeline when the
 * previous response on the connection has been sent.
 */
function handleConnect(
  request: http.IncomingMessage,
  socket: Socket,
  previous: http.ServerResponse | undefined,
  receive: http.RequestListener,
): void {
  // Discard the bytes that follow. They must flow, because the end of the connection would not be noticed otherwise.
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
  // Node removes its 'drain' listener together with the parser, so pass the event to the previous response.
  socket.on('drain', () => previous.emit('drain'));
  previous.once('finish', handle);
}

/** Resolves to the bound port. Rejects with the system's error (`EADDRINUSE`, …). */
export function listen(server: http.Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}
