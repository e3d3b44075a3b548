import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { authorizationOf } from '../auth/credentials.js';
import { problem } from '../http/problem.js';
import { type Scheme, schemeOf } from '../http/scheme.js';

/**
 * Secret (`--admin-token`) that requests to the admin routes must contain. Only its digest is stored, so that the
 * secret cannot be printed by accident.
 */
export class AdminToken {
  readonly #digest: Buffer;

  constructor(secret: string) {
    this.#digest = digestOf(secret);
  }

  /**
   * Returns true if `given` is the secret. The comparison takes constant time, so that its duration reveals nothing.
   */
  equals(given: string): boolean {
    return timingSafeEqual(this.#digest, digestOf(given));
  }
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Values of the header `Sec-Fetch-Site` (added by browsers) in requests that no page of another origin sent. */
const OWN_SITES: ReadonlySet<string> = new Set(['same-origin', 'none']);

export interface GuardedRequest {
  readonly request: IncomingMessage;
  /** Host and port in the request's `Host` header; undefined if absent. */
  readonly authority: string | undefined;
  /** True if the route requires no admin token. */
  readonly isOpen: boolean;
  /** True if the requested path is a file of the emulator's web page. These files are the same for every client. */
  readonly isPage: boolean;
}

/**
 * Throws if a request may not use the admin routes, whatever its route and method. A request from another site's page
 * is recognized by the headers that browsers add. DNS rebinding was refused before, by the `Host` header. `token` is
 * the secret that requests must contain; undefined if none is required.
 */
export function checkAdmin(
  { request, authority, isOpen, isPage }: GuardedRequest,
  token: AdminToken | undefined,
): void {
  if (!(isPage && isNavigation(request))) refuseOtherSites(request, authority);
  if (token && !isOpen) requireToken(request, token);
  requireSafeType(request);
}

/**
 * Returns true if a browser opens the emulator's page as a document, for example through a link on another site. The
 * headers are those of Fetch Metadata (sections 2.1 and 2.2).
 */
function isNavigation({ method, headers }: IncomingMessage): boolean {
  const { 'sec-fetch-mode': mode, 'sec-fetch-dest': destination, origin } = headers;
  return method === 'GET' && mode === 'navigate' && destination === 'document' && origin === undefined;
}

function refuseOtherSites(request: IncomingMessage, authority: string | undefined): void {
  const { method, headers } = request;
  const site = headers['sec-fetch-site'];
  const isOwnSite = site === undefined || OWN_SITES.has(String(site));
  const isOwnOrigin = headers.origin === undefined || isOriginOf(headers.origin, authority, schemeOf(request));
  // Every CORS preflight is refused, because pages of other origins must not use the admin routes.
  const isPreflight = method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
  if (isOwnSite && isOwnOrigin && !isPreflight) return;
  throw problem(
    'forbidden',
    'The admin routes refuse this request, because it comes from a web page of another origin.',
  );
}

/**
 * Returns true if the `Origin` header (RFC 6454, section 7) is the emulator's own origin. The own origin consists of
 * the connection's scheme and the host and port in the `Host` header (`authority`).
 */
function isOriginOf(origin: string, authority: string | undefined, scheme: Scheme): boolean {
  if (authority === undefined || !/^https?:\/\/[^/?#@\\\s]+$/i.test(origin)) return false;
  const own = `${scheme}://${authority}`;
  return URL.canParse(origin) && URL.canParse(own) && new URL(origin).origin === new URL(own).origin;
}

const BEARER = /^bearer +([^ ]+)$/i;

function requireToken({ rawHeaders }: IncomingMessage, token: AdminToken): void {
  const given = BEARER.exec(authorizationOf(rawHeaders)?.trim() ?? '')?.[1];
  if (given !== undefined && token.equals(given)) return;
  throw problem('unauthorized', 'The admin routes require the admin token in the header Authorization: Bearer TOKEN.', {
    headers: { 'www-authenticate': 'Bearer' },
  });
}

/**
 * Throws `unsupported_media_type` unless the body of an admin request is JSON, YAML or tar. Forms on other sites' pages
 * can send bodies without a preflight, but never with these media types.
 */
function requireSafeType({ headers }: IncomingMessage): void {
  const type = headers['content-type'];
  if (type === undefined ? !hasBody(headers) : /^application\/(?:json|yaml|x-tar) *(;|$)/i.test(type.trim())) return;
  throw problem(
    'unsupported_media_type',
    'The Content-Type of the body must be application/json, application/yaml or application/x-tar.',
  );
}

export function hasBody(headers: IncomingMessage['headers']): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
