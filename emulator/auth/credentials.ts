import { reject } from './rejection.js';

/** `api`: the HTTP API, Bearer only. `git`: Git remotes, Basic (as git sends it) or Bearer. */
export type Surface = 'api' | 'git';

export type Scheme = 'bearer' | 'basic';

export interface Credential {
  readonly scheme: Scheme;
  readonly token: string;
}

/** RFC 9110, 11.6.1: a 401 names the scheme that would do. git repeats with a password only after `Basic`. */
const CHALLENGES: Readonly<Record<Surface, Readonly<Record<string, string>>>> = {
  api: { 'www-authenticate': 'Bearer' },
  git: { 'www-authenticate': 'Basic realm="Git", charset="UTF-8"' },
};

const ACCEPTED: Readonly<Record<Surface, ReadonlySet<string>>> = {
  api: new Set<Scheme>(['bearer']),
  git: new Set<Scheme>(['basic', 'bearer']),
};

/**
 * The one `Authorization` header among Node's raw headers (name, value, name, value …), which keep
 * repeated ones. Throws `bad_request` when there are two: readers differ on which of them counts.
 */
export function authorizationOf(rawHeaders: readonly string[]): string | undefined {
  let found: string | undefined;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length !== 13 || name.toLowerCase() !== 'authorization') continue;
    if (found !== undefined) throw reject('repeated', 'The Authorization header was sent more than once');
    found = rawHeaders[at + 1];
  }
  return found;
}

/**
 * Reads an `Authorization` value. RFC 9110, 11.4: `auth-scheme [ 1*SP token68 ]`, the scheme in any case.
 * Throws a `Rejection`; what the header held is never repeated, it may be a token without its scheme.
 */
export function parseCredential(authorization: string | undefined, surface: Surface): Credential {
  const value = authorization?.trim();
  if (!value) throw reject('missing', 'No Authorization header was sent', CHALLENGES[surface]);
  const space = value.indexOf(' ');
  const scheme = (space < 0 ? value : value.slice(0, space)).toLowerCase();
  if (!isAccepted(scheme, surface)) {
    const wanted = surface === 'api' ? 'send Bearer' : 'send Basic or Bearer';
    throw reject('scheme', `The Authorization scheme is not supported, ${wanted}`, CHALLENGES[surface]);
  }
  const rest = space < 0 ? '' : value.slice(space).trimStart();
  const token = scheme === 'basic' ? passwordOf(rest) : rest;
  if (token === '') throw reject('missing', 'The Authorization header holds no token', CHALLENGES[surface]);
  return { scheme, token };
}

/** Whether a credential of `scheme` is read on `surface`. */
export function isAccepted(scheme: string, surface: Surface): scheme is Scheme {
  return ACCEPTED[surface].has(scheme);
}

/** RFC 7617, 2: base64 of `user-id ":" password`; the user name is free, the password is the token. */
function passwordOf(encoded: string): string {
  const pair = Buffer.from(encoded, 'base64').toString('latin1');
  const colon = pair.indexOf(':');
  return colon < 0 ? '' : pair.slice(colon + 1);
}
