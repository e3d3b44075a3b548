import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { problem } from './http/problem.js';
import { renderProblem } from './http/respond.js';
import { closeGently } from './http/unread-body.js';
import type { World } from './world.js';

const CODES: Readonly<Record<string, 'request_header_fields_too_large' | 'request_timeout'>> = {
  HPE_HEADER_OVERFLOW: 'request_header_fields_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

/** An HTTP server with the limits of the world. It does not listen yet. */
export function createServer(app: http.RequestListener, world: World): http.Server {
  const { limits } = world;
  const latest = new WeakMap<Socket, http.ServerResponse>();
  const server = http.createServer(
    {
      keepAliveTimeout: limits.keepAliveTimeout,
      headersTimeout: limits.headersTimeout,
      // A push may take long; what may not is a pause, and bodies have a timer for that.
      requestTimeout: 0,
      connectionsCheckingInterval: 5_000,
      maxHeaderSize: 16 * 1024,
    },
    (request, response) => {
      latest.set(request.socket, response);
      app(request, response);
    },
  );
  server.maxConnections = limits.maxSockets;
  // A client may close its half once it has sent everything; Node would take that for leaving (no public option says so).
  Object.assign(server, { httpAllowHalfOpen: true });
  server.maxRequestsPerSocket = 1_000;
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const answer = () => answerBrokenRequest(error, socket, world);
    const before = latest.get(socket);
    // What is no HTTP is the rest of the latest request, or comes after it; no answer may fall into another one.
    if (!before || (before.req.complete ? before.writableFinished : !before.headersSent)) answer();
    else if (before.req.complete) before.once('finish', answer);
    else if (before.writableFinished) closeGently(socket);
    else socket.destroy();
  });
  return server;
}

/** What Node's parser refused never reaches the chain; it gets the same words all the same. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket, world: World): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const code = CODES[error.code ?? ''] ?? 'bad_request';
  const reply = renderProblem(problem(code, 'The request could not be read as HTTP.'), {
    dialect: 'problem',
    path: '/',
    variants: world.variants,
    forgePrefix: world.forgePrefix,
  });
  const body = JSON.stringify(reply.json);
  socket.write(
    [
      `HTTP/1.1 ${reply.status} ${http.STATUS_CODES[reply.status]}`,
      `content-type: ${reply.headers!['content-type']}`,
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  );
  closeGently(socket);
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
