import { type Mutant, proxied } from '../mutant.js';
import { ARCHIVE, CREATE, GREP } from '../places.js';
import type { ProxiedRequest, Rewrite } from '../proxy.js';
import { answersBody, changesStatus, isAt, type Place, setsHeader, setsMember } from '../rewrites.js';

/** Makes the server answer with 500 if the query of a request to `place` matches. */
function breaksOver(place: Place, query: RegExp): Rewrite {
  return {
    response: (response) => {
      if (isAt(place, response.request) && query.test(response.request.path)) response.status = 500;
    },
  };
}

/**
 * Changes the path of requests before the server reads it. The server then seems to accept other spellings of its
 * routes.
 */
function routes(change: (path: string) => string): Rewrite {
  return {
    request: (request: ProxiedRequest) => {
      request.path = change(request.path);
    },
  };
}

/** Makes a cursor return the list of the repository to which it was issued, whichever token sends it. */
function readsTheCursor(list: RegExp): Rewrite {
  const issued = new Map<string, { path: string; authorization: string }>();
  const tokens = new WeakMap<object, string>();
  return {
    request: (request) => {
      if (!isAt(list, request)) return;
      const query = new URLSearchParams(request.path.split('?')[1]);
      const owner = issued.get(query.get('cursor') ?? '');
      if (owner !== undefined) {
        request.path = `${owner.path}?${query}`;
        request.headers.authorization = owner.authorization;
      }
      tokens.set(request, request.headers.authorization ?? '');
    },
    response: ({ request, status, body }) => {
      if (!isAt(list, request) || status !== 200) return;
      const { next_cursor: cursor } = JSON.parse(body.toString()) as { next_cursor?: unknown };
      const path = request.path.split('?')[0] ?? '';
      if (typeof cursor === 'string' && !issued.has(cursor))
        issued.set(cursor, { path, authorization: tokens.get(request) ?? '' });
    },
  };
}

/**
 * Defines a wrong server that answers some malformed requests with 500. The rule `beside` sends these requests, but
 * only observes the responses.
 */
const breaks = (clause: string, name: string, does: string, beside: string, proxy: Rewrite): Mutant =>
  proxied(name, `err.5xx-safe#${clause}`, does, proxy, { beside: [beside] });

const BODIES = 'general.body.types';
const QUERIES = 'general.query.odd';

export const rows: readonly Mutant[] = [
  breaks(
    'pattern',
    'err-breaks-over-an-invalid-pattern',
    'breaks over an invalid pattern',
    'grep.err.400.regex',
    answersBody(GREP, (body) => body.includes('"pattern":"("'), 500),
  ),
  breaks(
    'search-types',
    'err-breaks-over-paths-that-are-no-list',
    'breaks over paths that are not a list',
    BODIES,
    answersBody(GREP, (body) => body.includes('"paths":"'), 500),
  ),
  breaks(
    'search-types',
    'err-breaks-over-context-as-text',
    'breaks over context.before as text',
    BODIES,
    answersBody(GREP, (body) => body.includes('"before":"'), 500),
  ),
  breaks(
    'search-types',
    'err-breaks-over-a-cursor-that-is-a-number',
    'breaks over a cursor that is a number',
    BODIES,
    answersBody(GREP, (body) => body.includes('"cursor":5'), 500),
  ),
  breaks(
    'archive-types',
    'err-breaks-over-globs-that-are-no-list',
    'breaks over globs that are not a list',
    BODIES,
    answersBody(ARCHIVE, (body) => body.includes('"include_globs":"'), 500),
  ),
  breaks(
    'archive-types',
    'err-breaks-over-a-ref-that-is-a-number',
    'breaks over a ref that is a number',
    BODIES,
    answersBody(ARCHIVE, (body) => body.includes('"ref":5'), 500),
  ),
  breaks(
    'create-body',
    'err-breaks-over-a-list-in-place-of-a-repository',
    'breaks over a list in place of the body of a new repository',
    'general.body.create',
    answersBody(CREATE, (body) => body === '[]', 500),
  ),
  breaks(
    'other-bodies',
    'err-breaks-over-an-invalid-body-of-a-merge',
    'breaks over an invalid body of a merge',
    'general.body.companion',
    answersBody(/^POST .*\/merge$/, (body) => body === '{', 500),
  ),
  breaks(
    'other-bodies',
    'err-breaks-over-an-invalid-body-of-a-deletion',
    'breaks over an invalid body of a request that deletes a branch',
    'general.body.companion',
    answersBody(/^DELETE .*\/branches$/, (body) => body === '{', 500),
  ),
  breaks(
    'query-repeated',
    'err-breaks-over-two-shas',
    'breaks over sha that is sent twice',
    QUERIES,
    breaksOver(/\/commit$/, /sha=.*sha=/),
  ),
  breaks(
    'query-repeated',
    'err-breaks-over-two-paths',
    'breaks over path that is sent twice',
    QUERIES,
    breaksOver(/\/file$/, /path=.*path=/),
  ),
  breaks(
    'query-empty',
    'err-breaks-over-an-empty-ephemeral',
    'breaks over an empty ephemeral',
    QUERIES,
    breaksOver(/\/file$/, /ephemeral=(&|$)/),
  ),
  breaks(
    'list-limit',
    'err-breaks-over-a-negative-limit-of-branches',
    'breaks over a negative limit of the list of branches',
    'limit.list.odd',
    breaksOver(/\/branches$/, /limit=-1/),
  ),
  breaks(
    'list-limit',
    'err-breaks-over-a-limit-of-zero-commits',
    'breaks over a limit of 0 in the list of commits',
    'limit.list.odd',
    breaksOver(/\/commits$/, /limit=0/),
  ),
  breaks(
    'list-cursor',
    'err-breaks-over-a-long-cursor',
    'breaks over a long cursor',
    'limit.page.odd-cursor',
    breaksOver(/\/commits$/, /cursor=x{1000}/),
  ),
  breaks(
    'list-cursor',
    'err-breaks-over-a-zero-byte-in-a-cursor',
    'breaks over a zero byte in a cursor',
    'limit.page.odd-cursor',
    breaksOver(/\/branches$/, /cursor=%00/),
  ),
  proxied(
    'limit-follows-a-cursor-into-another-repository',
    'limit.page.foreign-cursor#commits',
    'shows the commits of the repository to which a cursor was issued',
    readsTheCursor(/^GET \/api\/v1\/repos\/commits$/),
  ),
  proxied(
    'limit-follows-a-cursor-to-branches-of-another-repository',
    'limit.page.foreign-cursor#branches',
    'shows the branches of the repository to which a cursor was issued',
    readsTheCursor(/^GET \/api\/repos\/[^/]+\/branches$/),
  ),
  proxied(
    'limit-follows-a-cursor-to-tags-of-another-repository',
    'limit.page.foreign-cursor#tags',
    'shows the tags of the repository to which a cursor was issued',
    readsTheCursor(/^GET \/api\/repos\/[^/]+\/tags$/),
  ),
  proxied(
    'err-takes-put-for-get',
    'err.generic.405#operations',
    'answers a PUT on the path of a commit',
    changesStatus('PUT /api/v1/repos/commit', 405, 200),
  ),
  proxied(
    'err-misses-a-body-of-get',
    'err.generic.405#operations',
    'refuses a GET on the path of a search as a bad request',
    changesStatus('GET /api/v1/repos/grep', 405, 400),
  ),
  proxied(
    'err-calls-a-wrong-method-forbidden',
    'err.generic.405#operations',
    'has the code forbidden for a wrong method',
    setsMember('PUT /api/v1/repos/file', 'code', 'forbidden', 405),
  ),
  proxied(
    'err-does-not-implement-put-on-branches',
    'err.generic.405#operations',
    'does not implement PUT on the list of branches',
    changesStatus(/^PUT \/api\/repos\/[^/]+\/branches$/, 405, 501),
  ),
  proxied(
    'err-calls-put-on-meta-unauthorized',
    'err.generic.405#operations',
    'is unauthorized for a wrong method on the metadata of the organization',
    changesStatus('PUT /api/meta', 405, 401),
  ),
  proxied(
    'err-hides-the-methods-of-an-archive',
    'err.method.allow#present',
    'has no Allow for the path of an archive',
    setsHeader('PUT /api/v1/repos/archive', 'allow', undefined, 405),
  ),
  proxied(
    'err-allows-get-of-a-commit-pack',
    'err.method.allow#documented',
    'names GET in place of POST as the method of commit-pack',
    setsHeader('PUT /api/v1/repos/commit-pack', 'allow', 'GET', 405),
  ),
  proxied(
    'err-allows-what-it-refuses',
    'err.method.allow#refused',
    'names the refused method in Allow',
    setsHeader('PUT /api/v1/repo', 'allow', 'GET, PUT', 405),
  ),
  proxied(
    'err-serves-what-is-below-a-route',
    'err.route.near#below',
    'serves a path below the path of a commit',
    routes((path) => path.replace(/\/commit\/no-such-part.*/, '/commit?sha=HEAD')),
  ),
  proxied(
    'err-serves-another-version',
    'err.route.near#version',
    'serves paths of a version that does not exist',
    routes((path) => path.replace(/^\/api\/v2\//, '/api/v1/')),
  ),
  proxied(
    'err-calls-a-singular-path-a-missing-thing',
    'err.route.near#singular',
    'has the generic code for a path with repo in place of repos',
    setsMember('GET /api/v1/repo/grep', 'code', 'not_found', 404),
  ),
];
