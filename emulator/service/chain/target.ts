import { hostOf, parseHost, type ServedHosts } from '../../http/host.js';
import { checkExpectation, framingMistake } from '../../http/message.js';
import { problem } from '../../http/problem.js';
import { readRequestTarget } from '../../http/request-target.js';
import type { RequestContext } from '../request-context.js';

/**
 * Step: whether it is certain where the message ends, and that it has no more headers than the limit: of very
 * many, Node drops the last ones without a word, among them a second Host or credential.
 */
export function checkMessage(context: RequestContext): void {
  const { request, world } = context;
  const mistake = framingMistake(request);
  if (mistake) {
    context.endConnection();
    throw mistake;
  }
  if (request.rawHeaders.length > 2 * world.config.limits.maxHeaders) {
    const detail = `The request has more than ${world.config.limits.maxHeaders} header fields.`;
    throw problem('request_header_fields_too_large', detail);
  }
}

/** Step: the request target. Koa's router reads `request.url` later, and finds the same. */
export function readTarget(context: RequestContext): void {
  const { request } = context;
  const target = readRequestTarget(request.method!, request.url!);
  context.target = target;
  if (target.authority !== undefined)
    request.url = target.query === '' ? target.path : `${target.path}?${target.query}`;
}

const ORGANIZATION_HOST = /^api\.([^.]+)\.localhost$/;

/**
 * Step: the host a request names. `api.<org>.localhost` selects an organization, other served names keep
 * the port's, and a host that is not served is refused.
 */
export function checkHost(served: ServedHosts): (context: RequestContext) => void {
  return (context) => {
    const { world } = context;
    const host = hostNamedBy(context);
    const selected = host === undefined ? undefined : ORGANIZATION_HOST.exec(host)?.[1];
    if (selected !== undefined && world.state.organizations.get(selected)) context.organizationName = selected;
    else if (host !== undefined && !served.includes(host)) {
      throw problem('forbidden', 'The request names a host that is not served here; --allowed-host adds one.');
    }
    context.organization = world.state.organizations.get(context.organizationName)!;
  };
}

/**
 * RFC 9112, 3.2: every HTTP/1.1 request has one valid Host; 3.2.2: where the target has an authority itself, that
 * counts in its place. A page in a browser sends no HTTP/1.0, where Host may be missing.
 */
function hostNamedBy({ request, target }: RequestContext): string | undefined {
  const field = hostOf(request.rawHeaders);
  if (field === undefined && request.httpVersion !== '1.0') throw problem('bad_request', 'The Host header is missing.');
  const host = field === undefined ? undefined : parseHost(field);
  return target.authority === undefined ? host : parseHost(target.authority);
}

/** Step: the expectation. */
export function meetExpectation({ request }: RequestContext): void {
  checkExpectation(request);
}
