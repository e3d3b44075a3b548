import type { Exchange } from '../exchange.js';
import { methodNotAllowed } from '../http/problem.js';
import { json, type Reply } from '../http/reply.js';
import { ADMIN_PREFIX } from './path.js';

export const HEALTH_PATH = `${ADMIN_PREFIX}/health`;

/**
 * The answer to `GET /_emulator/health`. It is asked before the emulator calls itself ready, and needs nothing but
 * the listener: the other admin routes are loaded when one of them is asked for.
 */
export function healthOf({ request, organizationName }: Exchange): Reply {
  if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed(request.method!, 'GET, HEAD');
  return json(200, { emulator: true, status: 'ready', organization: organizationName });
}
