import { createServer } from 'node:http';
import { listenOnLoopback } from '../../http/listen.js';
import type { Target } from '../../target/target.js';
import { passThrough } from '../pass-through.js';

/** Requests with another method than GET and HEAD that change nothing all the same. */
const READS = [
  /^POST \/api\/(v1\/)?repos\/(.+\/)?(grep|archive|merge\/preview)(\?|$)/,
  /^POST \/.+\.git\/git-upload-pack$/,
  /^POST \/_emulator\/tokens$/,
];

/** Whether a request may change something, whatever comes of it. */
export function isWrite(method: string, path: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && !READS.some((read) => read.test(`${method} ${path}`));
}

export interface Gate extends AsyncDisposable {
  readonly target: Target;
  /** The request lines that were refused. */
  readonly refused: string[];
}

/** Stands before a target and lets nothing pass that may change it: 418, which no rule expects. */
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
