import type { Exchange } from '../exchange.js';
import { problem } from '../http/problem.js';
import { parseRequestTarget } from '../http/request-target.js';

/** Step 1: the request target in its one form. */
export function readTarget(exchange: Exchange): void {
  exchange.target = parseRequestTarget(exchange.request.url ?? '');
}

const ORGANIZATION_HOST = /^api\.([^.]+)\.localhost$/;

/**
 * Step 2: the host a request names. Loopback names are served, `api.<org>.localhost` selects an
 * organization, and any other name is refused: a page in a browser that was led here by DNS rebinding
 * sends its own name (the check that localhost services keep being attacked for lacking).
 */
export function checkHost(allowedHosts: readonly string[]): (exchange: Exchange) => void {
  const allowed = new Set(allowedHosts.map(nameOf));
  return (exchange) => {
    const { world, request } = exchange;
    const host = nameOf(request.headers.host ?? '');
    const selected = ORGANIZATION_HOST.exec(host)?.[1];
    if (selected !== undefined && world.organization(selected)) exchange.organizationName = selected;
    else if (!isLoopback(host) && !allowed.has(host)) {
      throw problem('forbidden', 'The Host header names a host that is not served here; --allowed-host adds one.');
    }
    exchange.organization = world.organization(exchange.organizationName)!;
  };
}

/** The host without port and trailing dot, in lower case. */
function nameOf(host: string): string {
  const name = host.startsWith('[') ? host.slice(0, host.indexOf(']') + 1) : (host.split(':')[0] ?? '');
  return (name.endsWith('.') ? name.slice(0, -1) : name).toLowerCase();
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
