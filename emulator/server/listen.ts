import http from 'node:http';
import type https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
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
  /** What makes it a server of HTTPS. */
  readonly secured?: Secured | undefined;
}

/** `node:https` is loaded where it is asked for, so it is passed in. */
export interface Secured {
  readonly createServer: typeof https.createServer;
  readonly identity: Identity;
  /** Where another takes its place in time. */
  readonly renewal?: RenewedIdentity | undefined;
}

/** An HTTP server with the limits of the world. It does not listen yet. */
export function createServer(
  app: http.RequestListener,
  current: CurrentWorld,
  { names = new ConnectionNames(), others, secured }: ConnectionPorts = {},
): http.Server {
  const { limits } = current.config;
  const latest = new WeakMap<Socket, http.ServerResponse>();
  const options: http.ServerOptions = {
    keepAliveTimeout: limits.keepAliveTimeout,
    headersTimeout: limits.headersTimeout,
    // A push may take long; what may not is a pause, and bodies have a timer for that.
    requestTimeout: 0,
    connectionsCheckingInterval: 5_000,
    maxHeaderSize: 16 * 1024,
    // The chain asks for it, in its own words.
    requireHostHeader: false,
  };
  const server = secured ? createSecureServer(options, secured, limits.headersTimeout) : http.createServer(options);
  admitConnections(server, current, { names, others });
  server.maxConnections = limits.maxSockets;
  // A client may close its half once it has sent everything; Node would take that for leaving (no public option says so).
  Object.assign(server, { httpAllowHalfOpen: true });
  server.maxRequestsPerSocket = 1_000;
  // One more than may be sent, so that the chain sees that there were too many.
  server.maxHeadersCount = limits.maxHeaders + 1;

  const receive = (request: http.IncomingMessage, response: http.ServerResponse): void => {
    // RFC 9112, 9.6: behind a request whose answer closes the connection no other one is carried out.
    if (latest.get(request.socket)?.shouldKeepAlive === false) {
      request.resume();
      return;
    }
    latest.set(request.socket, response);
    // Node loses what arrives together with the end of such a request.
    if (isUpgrade(request)) response.shouldKeepAlive = false;
    app(request, response);
  };
  // Whether an expectation is met, and when, is for the chain to say.
  server.on('request', receive).on('checkContinue', receive).on('checkExpectation', receive);
  server.on('connect', (request: http.IncomingMessage, socket: Socket) => {
    answerConnect(request, socket, latest.get(socket), receive);
  });
  server.on(connectionEvent(server), (socket: Socket) => {
    // Node closes a connection for both directions as soon as the last answer has left.
    socket.destroySoon = () => lingeringClose(socket);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    refuseUnreadable(error, socket, latest.get(socket), current.world);
  });
  return server;
}

/** The same server behind TLS. What fails before HTTP is spoken is closed without a word of HTTP. */
function createSecureServer(
  options: http.ServerOptions,
  { createServer, identity, renewal }: Secured,
  handshakeTimeout: number,
): http.Server {
  const { cert, key } = renewal?.current ?? identity;
  const server = createServer({ ...options, cert, key, handshakeTimeout, allowHalfOpen: true });
  const forget = renewal?.onRenewed((next) => server.setSecureContext({ cert: next.cert, key: next.key }));
  if (forget) server.once('close', forget);
  server.removeAllListeners('tlsClientError').on('tlsClientError', (_error: Error, socket: Socket) => socket.destroy());
  const beneath = new Map<string, Socket>();
  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket);
    beneath.set(peer, socket);
    socket.once('close', () => beneath.get(peer) === socket && beneath.delete(peer));
  });
  server.on('secureConnection', (socket: Socket) => {
    // Node resets TCP connections only.
    const raw = beneath.get(peerOf(socket));
    socket.resetAndDestroy = () => {
      raw?.resetAndDestroy();
      return socket.destroy();
    };
  });
  return server;
}

/** Whether Node's parser takes the connection for one that changes its protocol. It never does (RFC 9110, 7.8). */
function isUpgrade({ headers }: http.IncomingMessage): boolean {
  return headers.upgrade !== undefined && /(?:^|[\s,])upgrade(?:$|[\s,])/i.test(headers.connection ?? '');
}

/** CONNECT leaves Node without an answer to write to; the chain gets one, behind those that are on their way. */
function answerConnect(
  request: http.IncomingMessage,
  socket: Socket,
  before: http.ServerResponse | undefined,
  receive: http.RequestListener,
): void {
  // What follows is not read as anything, but has to flow for the end behind it to be seen.
  socket.on('error', () => socket.destroy()).resume();
  const answer = () => {
    const response = new http.ServerResponse(request);
    response.assignSocket(socket);
    response.shouldKeepAlive = false;
    response.once('finish', () => lingeringClose(socket));
    receive(request, response);
  };
  if (!before || before.writableFinished) {
    answer();
    return;
  }
  // With the parser Node takes away what tells an answer that the socket has room again.
  socket.on('drain', () => before.emit('drain'));
  before.once('finish', answer);
}

/** Resolves to the port that was bound. Rejects with the system's error (`EADDRINUSE`, …). */
export function listen(server: http.Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}
