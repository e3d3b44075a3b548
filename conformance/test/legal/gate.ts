import { createServer } from 'node:http';
import { listenOnLoopback } from '../../http/listen.js';
import type { Target } from '../../target/target.js';
import { passThrough } from '../pass-through.js';

/** Requests with methods other than GET and HEAD that change nothing. */
const READS = [
  /^POST \/api\/(v1\/)?repos\/(.+\/)?(grep|archive|merge\/preview)(\?|$)/,
  /^POST \/.+\.git\/git-upload-pack$/,
  /^POST \/_emulator\/tokens$/,
];

/** Returns true if a request may change something, whatever its outcome. */
export function isWrite(method: string, path: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && !READS.some((read) => read.test(`${method} ${path}`));
}

export interface Gate extends AsyncDisposable {
  readonly target: Target;
  /** Request lines that the gate refused. */
  readonly refused: string[];
}

/** A proxy that refuses all requests that may change the target, with 418, which no rule expects. */
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
