import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../run/version.js';
import type { ProxiedRequest, ProxiedResponse, Rewrite } from './proxy.js';
import { isAt, type Place } from './rewrites.js';

/**
 * Names of the test keys that are registered with the emulator under test. The suite signs its tokens with the key
 * `es256`.
 */
type KeyName = 'es256' | 'es384' | 'es512' | 'rs256' | 'restricted' | 'deleted' | 'second';

type JsonObject = Readonly<Record<string, unknown>>;

/** Parsed token of a request from the suite. `isSignedBy` returns true if the given test key signed the token. */
export interface SentToken {
  readonly header: JsonObject;
  readonly claims: JsonObject;
  /** Scopes that the token claims. Empty if the claim is not a list. */
  readonly scopes: readonly string[];
  /** Lifetime of the token in seconds: the claim exp (expiry) minus the claim iat (time of issue). */
  readonly lifetime: number;
  /** Signature in base64url. Empty if the token has none. */
  readonly signature: string;
  isSignedBy(key: KeyName): boolean;
}

const BEARER = 'Bearer ';
const BASIC = 'Basic ';

function pemOf(name: string): string {
  return readFileSync(join(packageRoot(), 'fixtures', 'keys', `${name}.pem`), 'utf8');
}

/**
 * Makes the server accept invalid tokens: a proxy replaces them with valid ones in requests to `place`. `mend` returns
 * the claims of the new token, or undefined to keep the old token. The unrestricted key signs new tokens, so that the
 * server has no other reason to refuse them.
 */
export function mendsTokens(place: Place, mend: (token: SentToken, request: ProxiedRequest) => object | undefined) {
  const request = (request: ProxiedRequest): void => {
    const token = isAt(place, request) ? tokenOf(request) : undefined;
    const claims = token && mend(token, request);
    if (claims !== undefined) writeToken(request, signToken(claims));
  };
  return { request } satisfies Rewrite;
}

/** Makes the server read the repository that the parameter `repo` of the query names, not that of the token. */
export function takesRepositoryFromQuery(place: Place): Rewrite {
  return mendsTokens(place, ({ claims }, { path }) => {
    const repo = new URLSearchParams(path.split('?')[1]).get('repo');
    return repo === null ? undefined : { ...claims, repo };
  });
}

/** Makes the server refuse valid tokens for which `refuses` returns true. */
export function refusesTokens(place: Place, refuses: (token: SentToken, request: ProxiedRequest) => boolean) {
  const request = (request: ProxiedRequest): void => {
    const token = isAt(place, request) ? tokenOf(request) : undefined;
    if (token !== undefined && refuses(token, request)) writeToken(request, 'none');
  };
  return { request } satisfies Rewrite;
}

/** Changes the response to each request for which `isMeant` returns true. */
export function changesResponsesTo(
  isMeant: (request: ProxiedRequest) => boolean,
  change: (response: ProxiedResponse) => void,
): Rewrite {
  const meant = new WeakSet<object>();
  return {
    request: (request) => {
      if (isMeant(request)) meant.add(request);
    },
    response: (response) => {
      if (meant.has(response.request)) change(response);
    },
  };
}

/** Returns the repository name in the path of an API or Git request. Undefined if the path contains none. */
export function repositoryIn({ path }: Pick<ProxiedRequest, 'path'>): string | undefined {
  const [, name] = /^\/api\/repos\/([^/?]+)/.exec(path) ?? /^\/(.+)\.git\//.exec(path) ?? [];
  return name === undefined ? undefined : decodeURIComponent(name);
}

/** Parses the token in the `Authorization` header of a request. Returns undefined if the header has no valid token. */
export function tokenOf({ headers: { authorization = '' } }: ProxiedRequest): SentToken | undefined {
  const token = authorization.startsWith(BASIC)
    ? Buffer.from(authorization.slice(BASIC.length), 'base64')
        .toString()
        .replace(/^[^:]*:/, '')
    : authorization.replace(BEARER, '');
  const parts = token.split('.');
  const [header, claims] = parts.map(readPart);
  const [, , signature = ''] = parts;
  if (parts.length !== 3 || header === undefined || claims === undefined) return undefined;
  return {
    header,
    claims,
    scopes: Array.isArray(claims.scopes) ? claims.scopes : [],
    lifetime: Number(claims.exp) - Number(claims.iat),
    signature,
    isSignedBy: (name) => isSigned(token, name),
  };
}

function readPart(part: string): JsonObject | undefined {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString());
  } catch {
    return undefined;
  }
}

function isSigned(token: string, name: KeyName): boolean {
  const end = token.lastIndexOf('.');
  const key = createPublicKey(pemOf(name));
  const hash = `sha${name.startsWith('es') || name === 'rs256' ? name.slice(2) : '256'}`;
  const signature = Buffer.from(token.slice(end + 1), 'base64url');
  return verify(hash, Buffer.from(token.slice(0, end)), { key, dsaEncoding: 'ieee-p1363' }, signature);
}

function signToken(claims: object): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const input = `${encode({ alg: 'ES256', typ: 'JWT' })}.${encode(claims)}`;
  const key = createPrivateKey(pemOf('es256'));
  return `${input}.${sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}

function writeToken({ headers }: ProxiedRequest, token: string): void {
  headers.authorization = headers.authorization?.startsWith(BASIC)
    ? BASIC + Buffer.from(`t:${token}`).toString('base64')
    : BEARER + token;
}
