import type { IncomingMessage } from 'node:http';
import { hostName, hostOf, type ServedHosts } from '../http/host.js';

export const REFUSED = { error: 'The admin routes are not for pages in a browser.' };

/**
 * The admin routes ask for no token, so a page in a browser must not reach them: it would name another host
 * (DNS rebinding) or carry the headers browsers add to what a page sends.
 */
export function isFromPage({ headers, rawHeaders }: IncomingMessage, servedHosts: ServedHosts): boolean {
  const site = headers['sec-fetch-site'];
  if (headers.origin !== undefined || site === 'cross-site' || site === 'same-site') return true;
  try {
    return !servedHosts.includes(hostName(hostOf(rawHeaders)));
  } catch {
    // Two Host headers: whichever was meant, one of them is not ours to believe.
    return true;
  }
}
