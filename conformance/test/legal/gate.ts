import { createServer } from 'node:http';
import { listenOnLoopback } from '../../http/listen.js';
import type { Target } from '../../target/target.js';
import { passThrough } from '../pass-through.js';

/** Requests that change nothing on the server, although their method is neither GET nor HEAD. */
const READS = [
  /^POST \/api\/(v1\/)?repos\/(.+\/)?(grep|archive|merge\/preview)(\?|$)/,
  /^POST \/.+\.git\/git-upload-pack$/,
  /^POST \/_emulator\/tokens$/,
];

/**
 * Returns true if a request with this method and path may change the server. It does not matter whether the server
 * accepts the request.
 */
export function isWrite(method: string, path: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && !READS.some((read) => read.test(`${method} ${path}`));
}

export interface Gate extends AsyncDisposable {
  readonly target: Target;
  /** Method and path of each request that the proxy refused as a possible write. */
  readonly refused: string[];
}

/**
 * Starts a proxy that forwards only requests that change nothing. It responds to all other requests with status 418. No
 * rule expects this status, so each rule that writes fails.
 */
export async function openGate(target: Target): Promise<Gate> {
  const refused: string[] = [];
  const server = createServer((incoming, outgoing) => {
    const { method = '', url: path = '' } = incoming;
    if (isWrite(method, path)) {
      refused.push(`${method} ${path}`);
      incoming.resume();
      outgoing.writeHead(418).end();
      return;
    }
    passThrough(target.baseUrl, incoming, outgoing);
  });
  const baseUrl = `http://${await listenOnLoopback(server)}`;
  return {
    target: { ...target, baseUrl, gitUrl: baseUrl, ...(target.adminUrl && { adminUrl: `${baseUrl}/_emulator` }) },
    refused,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
