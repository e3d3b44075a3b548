import { type Mutant, proxied } from '../mutant.js';
import { API, ARCHIVE, META_OF_ORGANIZATION, REPO } from '../places.js';
import type { ProxiedRequest, Rewrite } from '../proxy.js';
import { changesStatus, isAt, type Place, setsMember } from '../rewrites.js';

/**
 * Makes the server read the token from another place in the request if the `Authorization` header is absent. `find`
 * returns the token from that place.
 */
function takesTokenFrom(place: Place, find: (request: ProxiedRequest) => string | undefined): Rewrite {
  return {
    request: (request) => {
      const token = isAt(place, request) && !request.headers.authorization ? find(request) : undefined;
      if (token !== undefined) request.headers.authorization = `Bearer ${token}`;
    },
  };
}

/**
 * Makes the server accept another form of the `Authorization` header. The first group of `pattern` is used as a bearer
 * token.
 */
function readsAsBearer(pattern: RegExp): Rewrite {
  return {
    request: (request) => {
      const [, token] = pattern.exec(request.headers.authorization ?? '') ?? [];
      if (token !== undefined) request.headers.authorization = `Bearer ${token}`;
    },
  };
}

export const rows: readonly Mutant[] = [
  proxied(
    'authfail-takes-a-token-from-a-cookie',
    'authfail.401.no-header#cookie',
    'takes a token from a cookie',
    takesTokenFrom(API, ({ headers }) => /access_token=(.+)/.exec(headers.cookie ?? '')?.[1]),
  ),
  proxied(
    'authfail-takes-a-token-from-another-header',
    'authfail.401.no-header#header',
    'takes a token from the header X-Auth-Token',
    takesTokenFrom(API, ({ headers }) => headers['x-auth-token']),
  ),
  proxied(
    'authfail-takes-a-token-from-the-query',
    'authfail.401.no-header#query',
    'takes a token from the query of a download',
    takesTokenFrom(ARCHIVE, ({ path }) => /access_token=([^&]+)/.exec(path)?.[1]),
  ),
  proxied(
    'authfail-takes-every-scheme-that-begins-with-bearer',
    'authfail.401.scheme-basic#similar',
    'takes a token under every scheme that begins with Bearer',
    readsAsBearer(/^Bearer\w+ (.+)/),
  ),
  proxied(
    'authfail-takes-every-scheme-that-ends-with-bearer',
    'authfail.401.scheme-basic#similar',
    'takes a token under every scheme that ends with Bearer',
    readsAsBearer(/^.+Bearer (.+)/),
  ),
  proxied(
    'authfail-needs-no-scheme',
    'authfail.401.scheme-basic#none',
    'takes a token without a scheme',
    readsAsBearer(/^(ey\S+)$/),
  ),
  proxied(
    'authfail-answers-403-without-a-token',
    'authfail.401.no-header',
    'answers 403 without a token',
    changesStatus(API, 401, 403),
  ),
  proxied('authfail-takes-any-scheme', 'authfail.401.scheme-basic', 'takes a token under any scheme', {
    request: (request) => {
      const { authorization = '' } = request.headers;
      if (!isAt(REPO, request)) return;
      const basic = /^Basic (.*)/.exec(authorization)?.[1];
      const token = basic === undefined ? authorization.replace(/^\w+ /, '') : Buffer.from(basic, 'base64').toString();
      if (token !== '') request.headers.authorization = `Bearer ${token.replace(/^t:/, '')}`;
    },
  }),
  proxied(
    'authfail-blames-the-token-on-organization-metadata',
    'authfail.403.unavailable#everywhere',
    'blames the token for organization metadata if it cannot verify any',
    setsMember(META_OF_ORGANIZATION, 'code', 'forbidden', 403),
  ),
  proxied(
    'authfail-blames-the-token-for-its-own-trouble',
    'authfail.403.unavailable',
    'blames the token where it cannot verify any',
    setsMember(REPO, 'code', 'forbidden', 403),
  ),
];
