import { type Mutant, proxied } from '../mutant.js';
import { API, BRANCHES, COMMIT, CREATE, PACK, REPO, REPOS } from '../places.js';
import type { Rewrite } from '../proxy.js';
import { changesStatus, isAt, type Place } from '../rewrites.js';
import { changesResponsesTo, mendsTokens, refusesTokens, repositoryIn, tokenOf } from '../tokens.js';

/** Makes the server accept tokens without the claim `repo`, and look for a repository with an empty name. */
const takesAnEmptyName = (place: Place) => mendsTokens(place, ({ claims }) => ({ repo: '', ...claims }));

/**
 * Wrong comparisons of a repository name with the claim `repo`, which treat different names as equal. The key is the
 * clause (part of a rule) that detects the mistake.
 */
const LOOSE: Readonly<Record<string, (name: string, claim: string) => boolean>> = {
  letters: (name, claim) => name.toLowerCase() === claim.toLowerCase(),
  part: (name, claim) => name.startsWith(claim) || claim.includes(name),
};

/**
 * Makes the server accept a creation whose body names another repository than the claim `repo`, if `isSame` returns
 * true for the two names.
 */
function comparesBody(isSame: (name: string, claim: string) => boolean): Rewrite {
  return {
    request: (request) => {
      const claim = tokenOf(request)?.claims.repo;
      if (!isAt(CREATE, request) || request.body.length === 0 || typeof claim !== 'string') return;
      const body: { repo_name?: unknown } = JSON.parse(request.body.toString());
      if (typeof body.repo_name !== 'string' || !isSame(body.repo_name, claim)) return;
      request.body = Buffer.from(JSON.stringify({ ...body, repo_name: claim }));
    },
  };
}

export const rows: readonly Mutant[] = [
  proxied(
    'claim-looks-for-a-repository-without-a-name',
    ['auth.repo-claim.missing.git-read'],
    'looks for a repository without a name where a reader names none',
    takesAnEmptyName(REPO),
  ),
  proxied(
    'claim-writes-to-a-repository-without-a-name',
    'auth.repo-claim.missing.git-write',
    'looks for a repository without a name where a writer names none',
    takesAnEmptyName(PACK),
  ),
  proxied(
    'claim-creates-a-repository-without-a-name',
    'auth.repo-claim.missing.repo-write',
    'creates a repository where the token names none',
    mendsTokens(CREATE, ({ claims }) => ({ repo: `unnamed-${claims.iat}`, ...claims })),
  ),
  proxied(
    'claim-takes-the-repository-from-the-body',
    'auth.repo-claim.missing.repo-write#body',
    'takes the name of a new repository from the body if the token names none',
    mendsTokens(CREATE, ({ claims }, { body }) =>
      body.length === 0 ? undefined : { repo: JSON.parse(body.toString()).repo_name, ...claims },
    ),
  ),
  proxied(
    'claim-needs-no-repo-beside-org-read',
    'auth.repo-claim.missing.mixed',
    'needs no repo where org:read is one of the scopes',
    mendsTokens(REPOS, ({ claims }) => ({ repo: 'any', ...claims })),
  ),
  proxied(
    'claim-looks-at-the-last-scope-for-a-repo',
    'auth.repo-claim.missing.mixed#order',
    'needs no repo if org:read is the last scope',
    mendsTokens(REPOS, ({ claims, scopes }) =>
      scopes.length > 1 && scopes.at(-1) === 'org:read' ? { repo: 'any', ...claims } : undefined,
    ),
  ),
  ...Object.entries(LOOSE).map(([clause, isSame]) =>
    proxied(
      `claim-compares-${clause}-of-the-body-loosely`,
      `other.create.body.mismatch#${clause}`,
      `compares the name in the body loosely with the claim (${clause})`,
      comparesBody(isSame),
    ),
  ),
  proxied(
    'claim-wants-a-repo-of-every-token',
    'auth.repo-claim.org-read.absent',
    'wants a repo of every token',
    refusesTokens(API, ({ claims }) => claims.repo === undefined),
  ),
  proxied(
    'claim-looks-for-the-repository-of-org-read',
    'auth.repo-claim.org-read.repo-route',
    'looks for a repository without a name for org:read',
    mendsTokens(COMMIT, ({ claims }) => ({ repo: '', ...claims, scopes: ['git:read'] })),
  ),
  proxied(
    'claim-believes-the-path',
    'auth.repo-claim.path-differs',
    'takes the repository of the path, whatever the token names',
    mendsTokens(BRANCHES, ({ claims }, request) => ({ ...claims, repo: repositoryIn(request) })),
  ),
  proxied(
    'claim-forbids-a-repository-that-is-not-there',
    'auth.repo-claim.path-missing-repo',
    'forbids a repository that does not exist',
    changesStatus(BRANCHES, 404, 403),
  ),
  proxied(
    'claim-tells-whether-a-repository-is-there',
    'auth.repo-claim.path-indistinguishable',
    'forbids a repository that the token does not name',
    changesResponsesTo(
      (request) => isAt(BRANCHES, request) && tokenOf(request)?.claims.repo !== repositoryIn(request),
      (response) => {
        response.status = 403;
      },
    ),
  ),
  proxied('claim-compares-names-loosely', 'auth.repo-claim.path-case', 'compares names without case and .git', {
    request: (request) => {
      const claimed = tokenOf(request)?.claims.repo;
      const named = repositoryIn(request)?.replace(/\.git$/, '');
      if (!isAt(BRANCHES, request) || typeof claimed !== 'string') return;
      if (named?.toLowerCase() !== claimed.toLowerCase()) return;
      request.path = request.path.replace(/(?<=^\/api\/repos\/)[^/]+/, encodeURIComponent(claimed));
    },
  }),
];
