import { type AdminToken, checkAdmin } from '../admin/guard.js';
import { isOpenPath } from '../admin/open-routes.js';
import { isAdminPath, isPagePath } from '../admin/path.js';
import { hostOf, parseHost, type ServedHosts } from '../http/host.js';
import { framingIssue } from '../http/message.js';
import { problem } from '../http/problem.js';
import { readRequestTarget } from '../http/request-target.js';
import { schemeOf } from '../http/scheme.js';
import type { EntryStep, RequestContext } from './request-context.js';

/**
 * Step: refuses requests whose end is ambiguous or that have too many headers. Node silently drops headers beyond its
 * own limit, which could include a second `Host` or credential.
 */
export function checkMessage(context: RequestContext): void {
  const { request, world } = context;
  const mistake = framingIssue(request);
  if (mistake) {
    context.endConnection();
    throw mistake;
  }
  if (request.rawHeaders.length > 2 * world.limits.maxHeaders) {
    const detail = `The request has more than ${world.limits.maxHeaders} header fields.`;
    throw problem('request_header_fields_too_large', detail);
  }
}

/**
 * Step: parses the request target (RFC 9112, 3.2). Replaces an absolute target in `request.url` by its path and query,
 * because Koa's router reads `request.url`.
 */
export function readTarget(context: RequestContext): void {
  const { request } = context;
  const target = readRequestTarget(request.method!, request.url!, schemeOf(request));
  context.target = target;
  context.isForAdmin = isAdminPath(target.path);
  if (target.authority !== undefined)
    request.url = target.query === '' ? target.path : `${target.path}?${target.query}`;
}

/**
 * Returns true for requests to the admin API, with which tests control the emulator. Reads the raw URL if an earlier
 * step refused the request before its target was parsed.
 */
export function concernsAdmin({ isForAdmin, request }: Pick<RequestContext, 'isForAdmin' | 'request'>): boolean {
  return isForAdmin ?? isAdminPath(/^(?:https?:\/\/[^/?#]*)?([^?#\\]*)/i.exec(request.url ?? '')![1]!);
}

const ORGANIZATION_HOST = /^api\.([^.]+)\.localhost$/;

const NAMESPACE_HOST = /\.ns\.localhost$/;

interface NamedHost {
  readonly isServed: boolean;
  /**
   * Organization that the host selects: `<org>` in `api.<org>.localhost`, or the organization of a configured host.
   * Undefined for other hosts.
   */
  readonly organization: string | undefined;
  readonly gitUrl: string | undefined;
  /** Host and port exactly as in the request. */
  readonly authority: string;
}

/** Organization and Git address of a host with a configured name. */
export interface GivenHost {
  /** Organization that the host selects. Undefined to use the organization of the port. */
  readonly organization: string | undefined;
  /** Origin (scheme, host and port) of Git remotes, in responses to requests with this host. */
  readonly gitUrl: string;
}

/**
 * Maximum number of parsed `Host` values in the cache. Clients send few different values, so a full cache is simply
 * emptied.
 */
const REMEMBERED_HOSTS = 64;

/**
 * Returns the step that checks the host of a request. `api.<org>.localhost` selects the organization `<org>`, and other
 * served hosts select the organization of the port. Requests to any other host are refused.
 */
export function checkHost(
  served: ServedHosts,
  namespace?: string,
  given: ReadonlyMap<string, GivenHost> = new Map(),
): EntryStep {
  const remembered = new Map<string, NamedHost>();
  // Refuses the host of another namespace (separate world with its own state), because this port would answer from the
  // wrong world.
  const isServed = (host: string) =>
    NAMESPACE_HOST.test(host) ? host === `${namespace}.ns.localhost` : served.includes(host) || given.has(host);
  const read = (authority: string): NamedHost => {
    const known = remembered.get(authority);
    if (known) return known;
    const host = parseHost(authority);
    const one = given.get(host);
    const organization = one?.organization ?? ORGANIZATION_HOST.exec(host)?.[1];
    const named = { isServed: isServed(host), organization, gitUrl: one?.gitUrl, authority };
    if (remembered.size === REMEMBERED_HOSTS) remembered.clear();
    remembered.set(authority, named);
    return named;
  };
  return (context) => {
    const { world } = context;
    const named = hostNamedBy(context, read);
    const selected = named?.organization;
    if (named?.gitUrl !== undefined) {
      context.gitUrl = named.gitUrl;
      context.isGitUrlGiven = true;
    }
    if (selected !== undefined && world.state.organizations.get(selected)) {
      if (selected !== context.organizationName && named!.gitUrl === undefined) {
        // Git URLs in the response must contain this host. The address of the port alone would select another
        // organization.
        context.gitUrl = `${schemeOf(context.request)}://${named!.authority}`;
        context.isGitUrlGiven = true;
      }
      context.organizationName = selected;
    } else if (named && !named.isServed) {
      throw problem(
        'forbidden',
        'The emulator does not serve the host in the Host header; --allowed-host adds a host.',
      );
    }
    context.organization = world.state.organizations.get(context.organizationName)!;
  };
}

/**
 * Returns the host that the request names. Every HTTP/1.1 request must have exactly one valid `Host` (RFC 9112, 3.2).
 * The authority of an absolute target takes precedence over it (3.2.2).
 *
 * An HTTP/1.0 request may lack `Host`. This is safe, because browsers do not send HTTP/1.0.
 */
function hostNamedBy(
  { request, target }: RequestContext,
  read: (authority: string) => NamedHost,
): NamedHost | undefined {
  const field = hostOf(request.rawHeaders);
  if (field === undefined && request.httpVersion !== '1.0') throw problem('bad_request', 'The Host header is missing.');
  const named = field === undefined ? undefined : read(field);
  return target.authority === undefined ? named : read(target.authority);
}

/**
 * Returns the step that checks whether the client may use the admin API, with which tests control the emulator.
 * Requests to the service pass. The step runs after the host check.
 */
export function guardAdmin(token: AdminToken | undefined): EntryStep {
  return ({ isForAdmin, request, target }) => {
    if (!isForAdmin) return;
    const authority = target.authority ?? hostOf(request.rawHeaders);
    const isPage = isPagePath(target.path);
    checkAdmin({ request, authority, isOpen: isPage || isOpenPath(target.path), isPage }, token);
  };
}
