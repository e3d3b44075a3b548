import type { Exchange } from '../exchange.js';
import { hostName, hostOf, type ServedHosts } from '../http/host.js';
import { problem } from '../http/problem.js';
import { parseRequestTarget } from '../http/request-target.js';

/**
 * Step 1: the request target in its one form, and no more headers than anybody needs: of very many, Node drops the
 * last ones without a word, among them a second Host or credential.
 */
export function readTarget(exchange: Exchange): void {
  const { request, world } = exchange;
  exchange.target = parseRequestTarget(request.url ?? '');
  if (request.rawHeaders.length > 2 * world.limits.maxHeaders) {
    const detail = `The request has more than ${world.limits.maxHeaders} header fields.`;
    throw problem('request_header_fields_too_large', detail);
  }
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
