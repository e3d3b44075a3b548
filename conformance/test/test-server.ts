import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { listenOnLoopback } from '../http/listen.js';
import type { Target } from '../target/target.js';

export interface TestServer {
  readonly target: Target;
  readonly baseUrl: string;
  close(): Promise<void>;
}

/**
 * Starts an HTTP server that the suite can check. `answer` handles all requests except those to the admin API. The
 * admin API responds with 404 unless `admin` is given.
 */
export async function startTestServer(
  answer: RequestListener,
  admin = always(404, 'text/plain', ''),
): Promise<TestServer> {
  const server = createServer((request, response) => {
    const isAdmin = request.url?.startsWith('/_emulator/') === true;
    (isAdmin ? admin : answer)(request, response);
  });
  const baseUrl = `http://${await listenOnLoopback(server)}`;
  return {
    baseUrl,
    target: targetAt(baseUrl),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

export function targetAt(baseUrl: string): Target {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  return {
    baseUrl,
    gitUrl: baseUrl,
    org: 'demo',
    key: { file: 'key.pem', algorithm: 'ES256', privateKey },
    otherKeys: [],
    write: true,
    companion: false,
  };
}

/** Returns a request handler that always sends this response. */
export function always(
  status: number,
  type: string,
  body: string,
  headers: Record<string, string> = {},
): RequestListener {
  return (request, response) => {
    request.resume();
    response.writeHead(status, { 'content-type': type, ...headers }).end(body);
  };
}

/**
 * Responds like a service without repositories: an empty list of repositories, and `{}` for all other requests. The
 * checks before a run accept this server.
 */
export function minimal(request: IncomingMessage, response: ServerResponse): void {
  const isList = request.url?.startsWith('/api/repos') === true;
  always(200, 'application/json', isList ? '{"repos":[]}' : '{}')(request, response);
}

/**
 * Returns a request handler that passes the checks before a run. It answers the first two requests like `minimal`, and
 * passes all later requests to `answer`.
 */
export function afterPreflight(answer: RequestListener): RequestListener {
  let count = 0;
  return (request, response) => {
    count += 1;
    (count <= 2 ? minimal : answer)(request, response);
  };
}
