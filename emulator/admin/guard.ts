import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { authorizationOf } from '../auth/credentials.js';
import { problem } from '../http/problem.js';
import { type Scheme, schemeOf } from '../http/scheme.js';

/** Secret that requests must carry. Only its digest is stored, so that nothing can print it. */
export class AdminToken {
  readonly #digest: Buffer;

  constructor(secret: string) {
    this.#digest = digestOf(secret);
  }

  /** Compares in constant time. */
  equals(given: string): boolean {
    return timingSafeEqual(this.#digest, digestOf(given));
  }
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Values of `Sec-Fetch-Site` in requests that no page of another site has sent. */
const OWN_SITES: ReadonlySet<string> = new Set(['same-origin', 'none']);

export interface GuardedRequest {
  readonly request: IncomingMessage;
  /** Host and port that the request names; undefined if absent. */
  readonly authority: string | undefined;
  /** True if the route requires no token. */
  readonly isOpen: boolean;
  /** True for a file of the page, which is the same for every client. */
  readonly isPage: boolean;
}

/**
 * Throws if the request may not use the admin routes, whatever the route and the method. DNS rebinding has been refused
 * earlier, by the request's `Host`. Requests of pages of other sites are recognized by the headers that browsers add.
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
 * Returns true if a link on another page, or on a page of another port, opens this page (Fetch Metadata, sections 2.1
 * and 2.2).
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
  // Refuse every preflight, because no other origin may use the admin routes.
  const isPreflight = method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
  if (isOwnSite && isOwnOrigin && !isPreflight) return;
  throw problem('forbidden', 'The admin routes refuse requests of web pages of other origins.');
}

/**
 * Returns true if `origin` (RFC 6454, section 7) is the origin of the host and port that the request names, with the
 * scheme of its connection.
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
  throw problem('unauthorized', 'The admin routes need the admin token: Authorization: Bearer TOKEN.', {
    headers: { 'www-authenticate': 'Bearer' },
  });
}

/**
 * Throws `unsupported_media_type` unless the body is JSON, YAML or tar. The form of another site's page can send any
 * body without a preflight, but not with one of these media types.
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
