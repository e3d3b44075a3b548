import { type Mutant, patched, proxied } from '../mutant.js';
import { takesFirstRepository } from '../patches.js';
import { REPO, REPOS } from '../places.js';
import type { Rewrite } from '../proxy.js';
import { changesStatus } from '../rewrites.js';
import { mendsTokens, takesRepositoryFromQuery } from '../tokens.js';

/** Changes the path of each request before the server reads it. */
function changesPath(change: (path: string) => string): Rewrite {
  return {
    request: (request) => {
      request.path = change(request.path);
    },
  };
}

function joinSegments(_path: string, before: string, name: string, after: string): string {
  return `${before}${name.replaceAll('/', '%2F')}${after}`;
}

/** Makes the server decode the repository name in paths of POST requests twice. */
function decodesTwice(): Rewrite {
  return {
    request: (request) => {
      if (request.method !== 'POST') return;
      request.path = request.path.replace(/^\/api\/repos\/[^/?]+/, (start) => start.replaceAll('%25', '%'));
    },
  };
}

export const rows: readonly Mutant[] = [
  proxied(
    'repo-reads-two-parts-of-a-name',
    'general.path.slash-as-2f#several',
    'reads only the first two parts of the name in the claim repo',
    mendsTokens(/ \/api\/v1\//, ({ claims }) => {
      const [first, second, third] = String(claims.repo).split('/');
      return third === undefined ? undefined : { ...claims, repo: `${first}/${second}` };
    }),
  ),
  proxied(
    'repo-decodes-names-of-posts-twice',
    'general.path.decode-once#everywhere',
    'decodes the name in the path of a POST request twice',
    decodesTwice(),
  ),
  proxied(
    'general-has-no-list-of-repositories',
    'general.route.api-prefix',
    'has no list of repositories',
    changesStatus(REPOS, 200, 404),
  ),
  proxied(
    'general-refuses-whatever-has-a-name-in-its-path',
    'general.path.name-in-path',
    'refuses whatever has a name in its path',
    changesStatus(/reset-commits$/, 409, 400),
  ),

  proxied(
    'general-reads-2f-in-capitals-only',
    'general.path.slash-as-2f',
    'takes %2F for a slash and %2f for none',
    changesPath((path) => path.replaceAll('%2f', '%252f')),
  ),
  proxied(
    'general-keeps-safe-characters-encoded',
    'general.path.safe-chars-as-is',
    'decodes nothing but %2F',
    changesPath((path) => path.replace(/%(?!2f)/gi, '%25')),
  ),
  proxied(
    'general-drops-an-extension',
    'general.path.safe-chars-as-is#extension',
    'takes the end of a name for a file extension',
    changesPath((path) => path.replace(/^(\/api\/repos\/[^/?]+)\.[a-z]+$/, '$1')),
  ),
  proxied(
    'general-joins-segments',
    'general.path.raw-slash-other-route',
    'takes what stands before the last segment for the name',
    changesPath((path) => path.replace(/^(\/api\/repos\/)([^?]+)(\/branches)/, joinSegments)),
  ),
  proxied(
    'general-decodes-twice',
    'general.path.decode-once',
    'decodes names twice',
    changesPath((path) => path.replaceAll('%25', '%')),
  ),
  proxied(
    'general-shows-records-to-anybody',
    'general.bearer.required',
    'shows a repository record without a token',
    changesStatus(REPO, 401, 200),
  ),
  patched(
    'general-has-one-repository',
    'general.one-token-one-repo',
    'shows the first repository of the organization to each token',
    takesFirstRepository('getRepository'),
  ),
  proxied(
    'repo-takes-the-repository-from-the-query',
    'general.one-token-one-repo#query',
    'takes the repository from the query',
    takesRepositoryFromQuery(REPO),
  ),
];
