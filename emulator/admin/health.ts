import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServedHosts } from '../http/host.js';
import { isFromPage, REFUSED } from './browser-guard.js';

export const HEALTH_PATH = '/_emulator/health';

/**
 * Answers `GET /_emulator/health`. It is asked before the emulator calls itself ready, and needs nothing but
 * the listener: the other admin routes are loaded when one of them is asked for.
 */
export function answerHealth(
  request: IncomingMessage,
  response: ServerResponse,
  options: { readonly organization: string; readonly servedHosts: ServedHosts },
): void {
  const answer = (status: number, body: object, headers: Readonly<Record<string, string>> = {}): void => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
  if (isFromPage(request, options.servedHosts)) answer(403, REFUSED);
  else if (request.method !== 'GET' && request.method !== 'HEAD') {
    answer(405, { error: 'Health is asked with GET.' }, { allow: 'GET, HEAD' });
  } else answer(200, { emulator: true, status: 'ready', organization: options.organization });
}
