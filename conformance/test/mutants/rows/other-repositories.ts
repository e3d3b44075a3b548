import { type Mutant, proxied } from '../mutant.js';
import {
  ARCHIVE,
  BRANCHES,
  COMMIT,
  COMMITS,
  DIFF,
  FILE,
  GREP,
  META,
  REFS,
  REMOTE,
  REPO,
  RESET,
  RESTORE,
} from '../places.js';
import type { ProxiedRequest, Rewrite } from '../proxy.js';
import { isAt, type Place } from '../rewrites.js';
import { mendsTokens, repositoryIn, tokenOf } from '../tokens.js';

/**
 * Makes the server accept a token whose claim `repo` differs from the name in the path, if `isSame` returns true for
 * the two names.
 */
function compares(place: Place, isSame: (claim: string, name: string) => boolean): Rewrite {
  return mendsTokens(place, ({ claims }, request) => {
    const [claim, name] = [claims.repo, repositoryIn(request)];
    return typeof claim === 'string' && name !== undefined && isSame(claim, name)
      ? { ...claims, repo: name }
      : undefined;
  });
}

const ownerOf = (name: string): string => name.replace(/[^/]*$/, '');
const lastOf = (name: string): string => name.replace(/.*\//, '');
const hasSameOwner = (claim: string, name: string): boolean => ownerOf(claim) === ownerOf(name);

const isPattern = (claim: string, name: string): boolean =>
  claim.includes('*') && name.startsWith(claim.replace(/\*.*/, ''));

/**
 * Makes the server use the wrong repository: all requests to `place` get the repository of the first token that was
 * sent there.
 */
function remembersRepository(place: Place): Rewrite {
  let first: unknown;
  return mendsTokens(place, ({ claims }) => {
    first ??= claims.repo;
    return { ...claims, repo: first };
  });
}

/**
 * Makes the server find the repository of a token with `find`, which gets the claim `repo` and the names of the
 * repositories that requests with a name in their path have used. Applies to `GET /api/v1/repo`.
 */
function findsNames(find: (claim: string, names: readonly string[]) => string | undefined): Rewrite {
  const names = new Set<string>();
  const mend = mendsTokens(REPO, ({ claims }) => {
    const name = find(String(claims.repo), [...names]);
    return name === undefined ? undefined : { ...claims, repo: name };
  });
  return {
    request: (request) => {
      const name = repositoryIn(request);
      if (name !== undefined) names.add(name);
      mend.request(request);
    },
  };
}

const FETCH = /\.git\/git-upload-pack$/;
const PUSH = /\.git\/git-receive-pack$/;

/**
 * Makes the server find a commit by its SHA in any repository, instead of only in the token's repository. It finds the
 * commits that earlier requests read.
 */
function findsCommitsAnywhere(place: Place): Rewrite {
  const owners = new Map<string, string>();
  const reads = new WeakMap<object, string>();
  const shasIn = ({ path, body }: ProxiedRequest) =>
    `${path} ${body.toString('latin1')}`.match(/\b[0-9a-f]{40}\b/g) ?? [];
  const ownerIn = (request: ProxiedRequest) =>
    shasIn(request)
      .map((sha) => owners.get(sha))
      .find((owner) => owner !== undefined);
  const mend = mendsTokens(place, ({ claims }, request) => {
    const owner = ownerIn(request);
    return owner === undefined ? undefined : { ...claims, repo: owner };
  });
  return {
    request: (request) => {
      const repo = tokenOf(request)?.claims.repo;
      if (isAt(COMMIT, request) && typeof repo === 'string') reads.set(request, repo);
      const [owner, named] = [isAt(place, request) ? ownerIn(request) : undefined, repositoryIn(request)];
      mend.request(request);
      if (owner === undefined || named === undefined) return;
      const isGit = isAt(REMOTE, request);
      request.path = isGit
        ? request.path.replace(/^.+(?=\.git\/)/, `/${owner}`)
        : request.path.replace(/(?<=^\/api\/repos\/)[^/]+/, encodeURIComponent(owner));
    },
    response: ({ request, status }) => {
      const repo = reads.get(request);
      if (repo === undefined || status !== 200) return;
      const [, sha] = /sha=([0-9a-f]{40})/.exec(request.path) ?? [];
      if (sha !== undefined) owners.set(sha, repo);
    },
  };
}

/** Operation that finds commits of other repositories on a wrong server, by the clause that detects it. */
const BY_CLAUSE: readonly (readonly [clause: string, place: Place])[] = [
  ['commit', COMMIT],
  ['file', FILE],
  ['metadata', META],
  ['grep', GREP],
  ['archive', ARCHIVE],
  ['diff', DIFF],
  ['restore', RESTORE],
  ['restore', RESET],
  ['git-fetch', FETCH],
  ['git-push', PUSH],
  ['named', /blame$/],
];

const LOOSE: Readonly<Record<string, (claim: string, name: string) => boolean>> = {
  letters: (claim, name) => claim.toLowerCase() === name.toLowerCase(),
  suffix: (claim, name) => claim === `${name}.git`,
  part: (claim, name) => claim === name.slice(0, -1) || claim.startsWith(`${name}x`),
  owner: (claim, name) => lastOf(claim) === lastOf(name),
  pattern: isPattern,
  blanks: (claim, name) => claim.replace(/^[ /]+|[ /]+$/g, '') === name,
  encoded: (claim, name) => claim === encodeURIComponent(name),
};

/** Servers that let a token reach another repository than the one in its claim `repo`. */
export const rows: readonly Mutant[] = [
  ...Object.entries(LOOSE).map(([clause, isSame]) =>
    proxied(
      `claim-compares-${clause}-loosely`,
      `auth.repo-claim.exact#${clause}`,
      `compares the repo claim loosely with the path (${clause})`,
      compares(BRANCHES, isSame),
    ),
  ),
  proxied(
    'claim-covers-every-repository-of-its-owner',
    'auth.repo-claim.exact#owner',
    'takes a claim with the owner alone for all of its repositories',
    compares(BRANCHES, (claim, name) => `${claim}/` === ownerOf(name)),
  ),
  proxied(
    'claim-compares-letters-loosely-for-git',
    'auth.repo-claim.exact#git',
    'compares the repo claim without case for Git',
    compares(REFS, (claim, name) => claim.toLowerCase() === name.toLowerCase()),
  ),
  proxied(
    'claim-finds-lower-case-names',
    'auth.repo-claim.exact#alias',
    'finds the repository of the claim in lower case on a route without a name in its path',
    findsNames((claim, names) => names.find((name) => name === claim.toLowerCase())),
  ),
  proxied(
    'claim-finds-names-that-it-begins-with',
    'auth.repo-claim.exact#alias',
    'finds the repository whose name is the beginning of the claim on a route without a name in its path',
    findsNames((claim, names) => names.find((name) => claim.startsWith(name))),
  ),
  proxied(
    'claim-compares-owners',
    ['auth.repo-claim.same-owner#path', 'auth.repo-claim.path-indistinguishable'],
    'compares only the owner in the path with that in the claim',
    compares(BRANCHES, hasSameOwner),
  ),
  proxied(
    'claim-compares-owners-for-fetches',
    'auth.repo-claim.same-owner#git-read',
    'compares only the owners for a fetch',
    compares(FETCH, hasSameOwner),
  ),
  // Accept all names instead of comparing the owners, because the tested server creates the pushed repository and its
  // sibling in two runs.
  proxied(
    'claim-compares-no-names-for-pushes',
    'auth.repo-claim.same-owner#git-write',
    'takes the repository of the path for a push, whatever the token names',
    compares(PUSH, () => true),
  ),
  proxied(
    'claim-lists-commits-of-the-first-repository',
    'auth.repo-claim.same-owner#alias',
    'lists the commits of the repository that was listed first',
    remembersRepository(COMMITS),
  ),
  ...BY_CLAUSE.map(([clause, place]) =>
    proxied(
      `claim-finds-commits-anywhere-${clause}${place === RESET ? '-by-path' : ''}`,
      `auth.repo-claim.foreign-commit#${clause}`,
      `finds a commit by its SHA in every repository (${clause}${place === RESET ? ', route with the name' : ''})`,
      findsCommitsAnywhere(place),
    ),
  ),
];
