import { reject } from './rejection.js';

/**
 * `api`: the HTTP API, which accepts Bearer only. `git`: Git remotes, which accept Basic (as git sends it) and Bearer.
 */
export type Surface = 'api' | 'git';

export type Scheme = 'bearer' | 'basic';

export interface Credential {
  readonly scheme: Scheme;
  readonly token: string;
}

/** Challenges of 401 responses (RFC 9110, 11.6.1). git asks for a password only after `Basic`. */
const CHALLENGES: Readonly<Record<Surface, Readonly<Record<string, string>>>> = {
  api: { 'www-authenticate': 'Bearer' },
  git: { 'www-authenticate': 'Basic realm="Git", charset="UTF-8"' },
};

const ACCEPTED: Readonly<Record<Surface, ReadonlySet<string>>> = {
  api: new Set<Scheme>(['bearer']),
  git: new Set<Scheme>(['basic', 'bearer']),
};

/**
 * Returns the `Authorization` header from Node's raw headers (name, value, name, value …), which keep repeated ones.
 * Throws `bad_request` for repeated headers, because readers differ in which one counts.
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
 * Parses an `Authorization` value: `auth-scheme [ 1*SP token68 ]`, with the scheme in any case (RFC 9110, 11.4). Throws
 * a `Rejection`, which never contains the value, because it may be a token without its scheme.
 */
export function parseCredential(authorization: string | undefined, surface: Surface): Credential {
  const value = authorization?.trim();
  if (!value) throw reject('missing', 'No Authorization header was sent', CHALLENGES[surface]);
  const space = value.indexOf(' ');
  const scheme = (space < 0 ? value : value.slice(0, space)).toLowerCase();
  if (!isAccepted(scheme, surface)) {
    const wanted = surface === 'api' ? 'send Bearer' : 'send Basic or Bearer';
    throw reject('scheme', `The Authorization scheme is not supported; ${wanted}`, CHALLENGES[surface]);
  }
  const rest = space < 0 ? '' : value.slice(space).trimStart();
  const token = scheme === 'basic' ? passwordOf(rest) : rest;
  if (token === '') throw reject('missing', 'The Authorization header contains no token', CHALLENGES[surface]);
  return { scheme, token };
}

/** Returns true if `surface` accepts credentials of `scheme`. */
export function isAccepted(scheme: string, surface: Surface): scheme is Scheme {
  return ACCEPTED[surface].has(scheme);
}

/**
 * Decodes base64 of `user-id ":" password` (RFC 7617, 2). The user name is arbitrary, and the password is the token.
 */
function passwordOf(encoded: string): string {
  const pair = Buffer.from(encoded, 'base64').toString('latin1');
  const colon = pair.indexOf(':');
  return colon < 0 ? '' : pair.slice(colon + 1);
}
