import type { Exchange } from '../exchange.js';
import { hostName, hostOf, type ServedHosts } from '../http/host.js';
import { problem } from '../http/problem.js';
import { parseRequestTarget } from '../http/request-target.js';

/** Step 1: the request target in its one form. */
export function readTarget(exchange: Exchange): void {
  exchange.target = parseRequestTarget(exchange.request.url ?? '');
}

const ORGANIZATION_HOST = /^api\.([^.]+)\.localhost$/;

/**
 * Step 2: the host a request names. `api.<org>.localhost` selects an organization, other served names keep
 * the port's, and a host that is not served is refused.
 */
export function checkHost(served: ServedHosts): (exchange: Exchange) => void {
  return (exchange) => {
    const { world, request } = exchange;
    const host = hostName(hostOf(request.rawHeaders));
    const selected = ORGANIZATION_HOST.exec(host)?.[1];
    if (selected !== undefined && world.organization(selected)) exchange.organizationName = selected;
    else if (!served.includes(host)) {
      throw problem('forbidden', 'The Host header names a host that is not served here; --allowed-host adds one.');
    }
    exchange.organization = world.organization(exchange.organizationName)!;
  };
}
