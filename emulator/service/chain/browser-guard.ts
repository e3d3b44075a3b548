import { problem } from '../../http/problem.js';
import type { RequestContext } from '../request-context.js';

/** What `Sec-Fetch-Site` says of a request that no other site's page made. */
const OWN_SITE: ReadonlySet<string> = new Set(['same-origin', 'none']);

/**
 * Step: the admin routes ask for no token, so a page in a browser must not reach them. One that was led here by DNS
 * rebinding names another host, which has been refused by now; any other carries what browsers add to its requests.
 */
export function refusePages({ isForAdmin, request: { headers } }: RequestContext): void {
  if (!isForAdmin) return;
  const site = headers['sec-fetch-site'];
  if (headers.origin === undefined && (site === undefined || OWN_SITE.has(String(site)))) return;
  throw problem('forbidden', 'The admin routes are not for pages in a browser.');
}
