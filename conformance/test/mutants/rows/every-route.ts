import { type Mutant, proxied } from '../mutant.js';
import { BRANCHES, FILE } from '../places.js';
import type { ProxiedRequest, Rewrite } from '../proxy.js';
import { isAt, type Place } from '../rewrites.js';
import { changesResponsesTo, mendsTokens, repositoryIn, type SentToken, tokenOf } from '../tokens.js';

/** Returns the claims of a token that the server accepts in place of a bad one; undefined to refuse the bad token. */
type Mend = (token: SentToken, request: ProxiedRequest) => object | undefined;

/** Route of an operation that the specification only names, or another route of a documented operation. */
type Route = readonly [name: string, place: Place];

const BLAME: Route = ['blame', /^GET .*\/blame$/];
const MERGE: Route = ['merge', /^POST .*\/merge$/];
const MERGE_PREVIEW: Route = ['merge-preview', /^GET .*\/merge\/preview$/];
const TAGS: Route = ['list-tags', /^GET .*\/tags$/];
const CREATE_BRANCH: Route = ['create-branch', /^POST .*\/branches\/create$/];
const DELETE: Route = ['delete-repository', /^DELETE \/api\/repos\/[^/]+$/];
const CREDENTIALS: Route = ['git-credentials', /^POST .*\/git-credentials$/];
const CREATE_V1: Route = ['create-by-v1', 'POST /api/v1/repos'];
const LIST_V1: Route = ['list-by-v1', 'GET /api/v1/repos'];
const HEAD_FILE: Route = ['head-file', /^HEAD .*\/file$/];

/** Preferred route of a documented operation of the specification's `/api/v1` routes. */
function preferred(name: string, method: string): Route {
  return [`${name}-by-name`, new RegExp(`^${method} /api/repos/[^/]+/${name}$`)];
}

const KNOWN = ['git:read', 'git:write', 'repo:write', 'org:read'];
const withoutExpiry: Mend = ({ claims }) =>
  Number(claims.exp) * 1000 < Date.now() ? { ...claims, exp: undefined } : undefined;
const anySignature: Mend = ({ claims, isSignedBy }) => (isSignedBy('es256') ? undefined : claims);
const knownScopes: Mend = ({ claims, scopes }) => ({
  ...claims,
  scopes: scopes.filter((scope) => KNOWN.includes(scope)),
});
const repositoryOfPath: Mend = ({ claims }, request) => ({ repo: repositoryIn(request) ?? 'unnamed', ...claims });
const anyLifetime: Mend = ({ claims, lifetime, isSignedBy }) =>
  lifetime > 3600 && !isSignedBy('es256') ? { ...claims, exp: undefined } : undefined;
const anyScopes: Mend = ({ claims, isSignedBy }) => (isSignedBy('es256') ? undefined : claims);

/**
 * Checks of a token that a wrong server does not make on one route. Each has the rule that must detect the server, and
 * routes: one that reads, one that writes, and one that is another route of a documented operation.
 */
const CHECKS: readonly (readonly [name: string, rule: string, does: string, mend: Mend, ...routes: Route[]])[] = [
  [
    'claim-does-not-look-at-exp-of',
    'claim.exp.expired',
    'takes tokens that have expired',
    withoutExpiry,
    BLAME,
    MERGE,
    preferred('file', 'GET'),
  ],
  [
    'key-checks-no-signature-of',
    'key.signature.verified',
    'does not check signatures',
    anySignature,
    TAGS,
    CREATE_BRANCH,
    preferred('commit-pack', 'POST'),
    HEAD_FILE,
  ],
  [
    'claim-passes-over-unknown-scopes-of',
    'claim.scopes.unknown-name',
    'passes over scopes that it does not know',
    knownScopes,
    MERGE_PREVIEW,
    CREDENTIALS,
    LIST_V1,
  ],
  [
    'claim-needs-no-repo-of',
    'auth.repo-claim.missing.git-read',
    'takes the repository of the path if a token names none',
    repositoryOfPath,
    BLAME,
    preferred('file', 'GET'),
  ],
  [
    'claim-needs-no-repo-of',
    'auth.repo-claim.missing.git-write',
    'takes the repository of the path if a token names none',
    repositoryOfPath,
    MERGE,
    preferred('notes', 'POST'),
  ],
  [
    'claim-needs-no-repo-of',
    'auth.repo-claim.missing.repo-write',
    'takes the repository of the path, or a new one, if a token names none',
    repositoryOfPath,
    DELETE,
    CREATE_V1,
  ],
  [
    'restricted-lives-for-any-time-of',
    'restricted.lifetime.3601',
    'does not look at the lifetime of a restricted key',
    anyLifetime,
    BLAME,
    MERGE,
    preferred('grep', 'POST'),
  ],
  [
    'restricted-signs-for-every-scope-of',
    'restricted.scope.one-outside',
    'does not look at the list of a restricted key',
    anyScopes,
    TAGS,
    CREATE_BRANCH,
    preferred('archive', 'POST'),
  ],
];

/** Makes the server carry out a request with a bad token, although it refuses the request with 403. */
function executesRefused(place: Place, mend: Mend): Rewrite {
  const refused = new WeakSet<object>();
  const { request } = mendsTokens(place, (token, sent) => {
    const claims = mend(token, sent);
    if (claims !== undefined) refused.add(sent);
    return claims;
  });
  return {
    request,
    response: (response) => {
      if (refused.has(response.request)) response.status = 403;
    },
  };
}

/** Makes the server accept a token with another scheme than Bearer. */
function takesScheme(place: Place, tokenIn: (authorization: string) => string | undefined): Rewrite {
  return {
    request: (request) => {
      const token = isAt(place, request) ? tokenIn(request.headers.authorization ?? '') : undefined;
      if (token !== undefined) request.headers.authorization = `Bearer ${token}`;
    },
  };
}

const basicToken = (authorization: string): string | undefined => {
  const [, text] = /^Basic (.+)/.exec(authorization) ?? [];
  return (
    text &&
    Buffer.from(text, 'base64')
      .toString()
      .replace(/^[^:]*:/, '')
  );
};
const schemeToken = (authorization: string): string | undefined => /^Token (.+)/.exec(authorization)?.[1];

const SCHEMES: readonly (readonly [scheme: string, typeof basicToken, ...routes: Route[]])[] = [
  ['Basic', basicToken, BLAME, MERGE, preferred('archive', 'POST')],
  ['Token', schemeToken, TAGS, DELETE],
];

/** Returns true for a request whose path names another repository than its token, if the token names one. */
function namesAnother(request: ProxiedRequest): boolean {
  const claim = tokenOf(request)?.claims.repo;
  return claim !== undefined && claim !== repositoryIn(request);
}

/** Changes the responses to requests for repositories that the token does not cover. */
const distinguishes = (place: Place, change: Parameters<typeof changesResponsesTo>[1]): Rewrite =>
  changesResponsesTo((request) => isAt(place, request) && namesAnother(request), change);

/** Makes the server evaluate a header before the token: requests for a file with this header get `status`. */
const answersBefore = (header: string, status: number, isMeant: (request: ProxiedRequest) => boolean): Rewrite =>
  changesResponsesTo(
    (request) => isAt(FILE, request) && request.headers[header] !== undefined && isMeant(request),
    (response) => {
      response.status = status;
      response.body = Buffer.from(status === 206 ? '#' : '');
    },
  );

const hasNoToken = ({ headers }: ProxiedRequest): boolean => headers.authorization === undefined;
const isExpired = (request: ProxiedRequest): boolean => Number(tokenOf(request)?.claims.exp) * 1000 < Date.now();

/**
 * Servers that skip a check of the token on one route only: on a route of an operation that the specification only
 * names, or on another route of a documented operation.
 */
export const rows: readonly Mutant[] = [
  ...CHECKS.flatMap(([name, rule, does, mend, ...routes]) =>
    routes.map(([route, place]) =>
      proxied(`${name}-${route}`, `${rule}#everywhere`, `${does} (${route})`, mendsTokens(place, mend)),
    ),
  ),
  ...[MERGE, DELETE, CREATE_V1].map(([route, place]) =>
    proxied(
      `claim-executes-refused-requests-of-${route}`,
      'claim.exp.expired#everywhere',
      `refuses an expired token with 403, and carries out its request (${route})`,
      executesRefused(place, withoutExpiry),
    ),
  ),
  ...SCHEMES.flatMap(([scheme, tokenIn, ...routes]) =>
    routes.map(([route, place]) =>
      proxied(
        `authfail-takes-the-scheme-${scheme.toLowerCase()}-of-${route}`,
        'authfail.401.scheme-basic#everywhere',
        `takes a token with the scheme ${scheme} (${route})`,
        takesScheme(place, tokenIn),
      ),
    ),
  ),
  ...[BLAME, MERGE].map(([route, place]) =>
    proxied(
      `authfail-needs-no-token-of-${route}`,
      'other.err.401.no-header',
      `needs no token (${route})`,
      changesResponsesTo(
        (request) => isAt(place, request) && hasNoToken(request),
        (response) => {
          response.status = 400;
        },
      ),
    ),
  ),
  proxied(
    'claim-tells-of-a-repository-by-a-header',
    'auth.repo-claim.path-indistinguishable#names',
    'adds a header to the refusal if the repository exists',
    distinguishes(BRANCHES, ({ headers }) => {
      headers['x-repository'] = 'hidden';
    }),
  ),
  proxied(
    'claim-tells-of-a-repository-by-a-member',
    'auth.repo-claim.path-indistinguishable#names',
    'adds a member to the refusal if the repository exists',
    distinguishes(BRANCHES, (response) => {
      response.body = Buffer.from(JSON.stringify({ ...JSON.parse(response.body.toString()), hint: 'hidden' }));
    }),
  ),
  ...[BLAME, MERGE].map(([route, place]) =>
    proxied(
      `claim-tells-whether-a-repository-is-there-by-${route}`,
      'auth.repo-claim.path-indistinguishable#everywhere',
      `forbids a repository that the token does not cover (${route})`,
      distinguishes(place, (response) => {
        response.status = 403;
      }),
    ),
  ),
  proxied(
    'claim-tells-whether-a-repository-is-there-by-head',
    'auth.repo-claim.path-indistinguishable#head',
    'forbids HEAD of a file in a repository that the token does not cover',
    distinguishes(HEAD_FILE[1], (response) => {
      response.status = 403;
    }),
  ),
  proxied(
    'authfail-answers-304-without-a-token',
    'authfail.401.no-header#conditional',
    'answers 304 before it looks for a token',
    answersBefore('if-none-match', 304, hasNoToken),
  ),
  proxied(
    'authfail-answers-206-without-a-token',
    'authfail.401.no-header#conditional',
    'sends a part of a file before it looks for a token',
    answersBefore('range', 206, hasNoToken),
  ),
  proxied(
    'claim-answers-304-to-an-expired-token',
    'claim.exp.expired#conditional',
    'answers 304 to an expired token',
    answersBefore('if-none-match', 304, isExpired),
  ),
  proxied(
    'claim-answers-206-to-an-expired-token',
    'claim.exp.expired#conditional',
    'sends a part of a file for an expired token',
    answersBefore('range', 206, isExpired),
  ),
];
