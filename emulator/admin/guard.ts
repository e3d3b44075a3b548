import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { authorizationOf } from '../auth/credentials.js';
import { problem } from '../http/problem.js';
import { type Scheme, schemeOf } from '../http/scheme.js';

/** A secret that requests have to name. It is kept as a digest, so that nothing can print it. */
export class AdminToken {
  readonly #digest: Buffer;

  constructor(secret: string) {
    this.#digest = digestOf(secret);
  }

  /** Takes the same time whatever is given. */
  equals(given: string): boolean {
    return timingSafeEqual(this.#digest, digestOf(given));
  }
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** What `Sec-Fetch-Site` says of a request that no other site's page made. */
const OWN_SITE: ReadonlySet<string> = new Set(['same-origin', 'none']);

export interface GuardedRequest {
  readonly request: IncomingMessage;
  /** Host and port as the request names them; undefined where it names none. */
  readonly authority: string | undefined;
  /** Asks for no token. */
  readonly isOpen: boolean;
  /** A file of the page, which says the same to everybody. */
  readonly isPage: boolean;
}

/**
 * Who may use the admin routes, whatever the route and the method. A page that was led here by DNS rebinding names
 * another host, and has been refused by now; a page of any other site carries what browsers add to its requests.
 */
export function checkAdmin(
  { request, authority, isOpen, isPage }: GuardedRequest,
  token: AdminToken | undefined,
): void {
  if (!(isPage && isNavigation(request))) refuseOtherSites(request, authority);
  if (token && !isOpen) requireToken(request, token);
  requireOwnType(request);
}

/** A link of another page, or of another port's, that opens this one in its place (Fetch Metadata, 2.1 and 2.2). */
function isNavigation({ method, headers }: IncomingMessage): boolean {
  const { 'sec-fetch-mode': mode, 'sec-fetch-dest': destination, origin } = headers;
  return method === 'GET' && mode === 'navigate' && destination === 'document' && origin === undefined;
}

function refuseOtherSites(request: IncomingMessage, authority: string | undefined): void {
  const { method, headers } = request;
  const site = headers['sec-fetch-site'];
  const isOwnSite = site === undefined || OWN_SITE.has(String(site));
  const isOwnOrigin = headers.origin === undefined || isOriginOf(headers.origin, authority, schemeOf(request));
  // A preflight asks for another origin's leave, which nobody has.
  const isPreflight = method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
  if (isOwnSite && isOwnOrigin && !isPreflight) return;
  throw problem('forbidden', 'The admin routes are not for pages of other origins.');
}

/** Whether `origin` (RFC 6454, 7) is that of the host and port which the request names, by the scheme it came by. */
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

/** A form of another site's page can send any body without asking, but not as JSON, as YAML or as an archive. */
function requireOwnType({ headers }: IncomingMessage): void {
  const type = headers['content-type'];
  if (type === undefined ? !hasBody(headers) : /^application\/(?:json|yaml|x-tar) *(;|$)/i.test(type.trim())) return;
  throw problem(
    'unsupported_media_type',
    'The body has to be application/json, or application/x-tar where an archive is asked for.',
  );
}

export function hasBody(headers: IncomingMessage['headers']): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
