import { generateKeyPairSync } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import { listenOnLoopback } from '../http/listen.js';
import type { Target } from '../target/target.js';

export interface TestServer {
  readonly target: Target;
  readonly baseUrl: string;
  close(): Promise<void>;
}

/**
 * Starts an HTTP server as a target of the suite. `answer` handles all requests except those to the admin API, which
 * get status 404 unless `admin` is given.
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

/** Returns a request handler that sends the same status, media type and body in response to every request. */
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
