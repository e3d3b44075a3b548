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
 * Step: whether it is certain where the message ends, and that it has no more headers than the limit: of very
 * many, Node drops the last ones without a word, among them a second Host or credential.
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

/** Step: the request target. Koa's router reads `request.url` later, and finds the same. */
export function readTarget(context: RequestContext): void {
  const { request } = context;
  const target = readRequestTarget(request.method!, request.url!, schemeOf(request));
  context.target = target;
  context.isForAdmin = isAdminPath(target.path);
  if (target.authority !== undefined)
    request.url = target.query === '' ? target.path : `${target.path}?${target.query}`;
}

/** Whether the request is one to the emulator's own routes, also where it was refused before its target was read. */
export function concernsAdmin({ isForAdmin, request }: RequestContext): boolean {
  return isForAdmin ?? isAdminPath(/^(?:https?:\/\/[^/?#]*)?([^?#\\]*)/i.exec(request.url ?? '')![1]!);
}

const ORGANIZATION_HOST = /^api\.([^.]+)\.localhost$/;

const NAMESPACE_HOST = /\.ns\.localhost$/;

interface NamedHost {
  readonly isServed: boolean;
  /** Of `api.<org>.localhost`, or of a host that was given. */
  readonly organization: string | undefined;
  readonly gitUrl: string | undefined;
  /** As it was named, with its port. */
  readonly authority: string;
}

/** What a host that was given by name stands for. */
export interface GivenHost {
  /** The organization it names; undefined: the port's. */
  readonly organization: string | undefined;
  /** What remotes start with in answers to requests that name it. */
  readonly gitUrl: string;
}

/** Different values of `Host` that are remembered: clients name the same one again and again. */
const REMEMBERED_HOSTS = 64;

/**
 * Step: the host a request names. `api.<org>.localhost` selects an organization, other served names keep
 * the port's, and a host that is not served is refused.
 */
export function checkHost(
  served: ServedHosts,
  namespace?: string,
  given: ReadonlyMap<string, GivenHost> = new Map(),
): EntryStep {
  const remembered = new Map<string, NamedHost>();
  // A request to a namespace that is not this one must not be served by the world that happens to listen.
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
        // The port alone leads to its own organization.
        context.gitUrl = `${schemeOf(context.request)}://${named!.authority}`;
        context.isGitUrlGiven = true;
      }
      context.organizationName = selected;
    } else if (named && !named.isServed) {
      throw problem('forbidden', 'The request names a host that is not served here; --allowed-host adds one.');
    }
    context.organization = world.state.organizations.get(context.organizationName)!;
  };
}

/**
 * RFC 9112, 3.2: every HTTP/1.1 request has one valid Host; 3.2.2: where the target has an authority itself, that
 * counts in its place. A page in a browser sends no HTTP/1.0, where Host may be missing.
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

/** Step: who may use the admin routes. The host that the request names is a served one by now. */
export function guardAdmin(token: AdminToken | undefined): EntryStep {
  return ({ isForAdmin, request, target }) => {
    if (!isForAdmin) return;
    const authority = target.authority ?? hostOf(request.rawHeaders);
    const isPage = isPagePath(target.path);
    checkAdmin({ request, authority, isOpen: isPage || isOpenPath(target.path), isPage }, token);
  };
}
