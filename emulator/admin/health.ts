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
  const refused = isFromPage(request.headers, options.servedHosts);
  const body = refused ? REFUSED : { emulator: true, status: 'ready', organization: options.organization };
  response.writeHead(refused ? 403 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
