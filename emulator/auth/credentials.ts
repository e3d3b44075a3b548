import { reject } from './rejection.js';

/**
 * Part of the service that receives a request. `api` is the HTTP API, which accepts only Bearer credentials. `git` is a
 * Git remote, which accepts Bearer and Basic (the scheme that git sends).
 */
export type Surface = 'api' | 'git';

export type Scheme = 'bearer' | 'basic';

export interface Credential {
  readonly scheme: Scheme;
  readonly token: string;
}

/**
 * `WWW-Authenticate` headers of 401 responses (RFC 9110, 11.6.1). Git remotes send `Basic`, because git asks for a
 * password only then.
 */
const CHALLENGES: Readonly<Record<Surface, Readonly<Record<string, string>>>> = {
  api: { 'www-authenticate': 'Bearer' },
  git: { 'www-authenticate': 'Basic realm="Git", charset="UTF-8"' },
};

const ACCEPTED: Readonly<Record<Surface, ReadonlySet<string>>> = {
  api: new Set<Scheme>(['bearer']),
  git: new Set<Scheme>(['basic', 'bearer']),
};

/**
 * Returns the value of the `Authorization` header; undefined if absent. Reads Node's raw headers (name, value, name,
 * value …), because they keep repeated headers. Throws `bad_request` if the header is repeated, because HTTP
 * implementations disagree which value counts.
 */
export function authorizationOf(rawHeaders: readonly string[]): string | undefined {
  let found: string | undefined;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length !== 13 || name.toLowerCase() !== 'authorization') continue;
    if (found !== undefined)
      throw reject('repeated', 'The Authorization header was sent more than once, but is allowed only once');
    found = rawHeaders[at + 1];
  }
  return found;
}

/**
 * Parses the value of an `Authorization` header: `auth-scheme [ 1*SP token68 ]`, with the scheme in any case (RFC 9110,
 * 11.4). Throws a `Rejection` if it is missing or not accepted. The `Rejection` never contains the value, because a
 * client may have sent its token without a scheme.
 */
export function parseCredential(authorization: string | undefined, surface: Surface): Credential {
  const value = authorization?.trim();
  if (!value) throw reject('missing', 'The request has no Authorization header', CHALLENGES[surface]);
  const space = value.indexOf(' ');
  const scheme = (space < 0 ? value : value.slice(0, space)).toLowerCase();
  if (!isAccepted(scheme, surface)) {
    const wanted = surface === 'api' ? 'Bearer' : 'Basic or Bearer';
    throw reject(
      'scheme',
      `The scheme of the Authorization header is not supported and must be ${wanted}`,
      CHALLENGES[surface],
    );
  }
  const rest = space < 0 ? '' : value.slice(space).trimStart();
  const token = scheme === 'basic' ? passwordOf(rest) : rest;
  if (token === '') throw reject('missing', 'The Authorization header contains no token', CHALLENGES[surface]);
  return { scheme, token };
}

/**
 * Returns true if `surface` (the HTTP API or Git remotes) accepts credentials with the authentication scheme `scheme`.
 */
export function isAccepted(scheme: string, surface: Surface): scheme is Scheme {
  return ACCEPTED[surface].has(scheme);
}

/**
 * Returns the password of Basic credentials: base64 of `user-id ":" password` (RFC 7617, 2). The password is the token;
 * the user name is ignored. Returns an empty string if there is no colon.
 */
function passwordOf(encoded: string): string {
  const pair = Buffer.from(encoded, 'base64').toString('latin1');
  const colon = pair.indexOf(':');
  return colon < 0 ? '' : pair.slice(colon + 1);
}
