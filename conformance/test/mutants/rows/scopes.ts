import { type Mutant, proxied } from '../mutant.js';
import { ANY } from '../places.js';
import { changesStatus } from '../rewrites.js';
import { mendsTokens } from '../tokens.js';

const DELETE_TAG = /^DELETE .*\/tags\//;
const BOTH = ['git:read', 'git:write'];

export const rows: readonly Mutant[] = [
  proxied(
    'scope-wants-more-than-git-read-for-blame',
    'scope.read-family',
    'wants more than git:read for blame',
    changesStatus(/blame$/, 200, 403),
  ),
  proxied(
    'scope-reads-names-loosely',
    'scope.exact-match',
    'reads the names of scopes in any case and with spaces',
    mendsTokens(ANY, ({ claims, scopes }) => ({
      ...claims,
      scopes: scopes.map((scope) => scope.trim().toLowerCase()),
    })),
  ),
  proxied(
    'scope-takes-a-star',
    'scope.star-invalid',
    'takes * for every scope',
    mendsTokens(ANY, ({ claims, scopes }) => (scopes.includes('*') ? { ...claims, scopes: BOTH } : undefined)),
  ),
  proxied(
    'scope-looks-at-the-first-only',
    'scope.combined',
    'looks at the first scope of a token only',
    mendsTokens(ANY, ({ claims, scopes }) => ({ ...claims, scopes: scopes.slice(0, 1) })),
  ),
  proxied(
    'scope-lets-nobody-delete-tags',
    'scope.tag-delete.both',
    'wants more than both scopes to delete a tag',
    mendsTokens(DELETE_TAG, ({ claims }) => ({ ...claims, scopes: ['repo:write'] })),
  ),
  ...BOTH.map((scope) =>
    proxied(
      `scope-deletes-tags-with-${scope.replace(':', '-')}`,
      `scope.tag-delete.${scope.replace('git:', '')}-only`,
      `deletes tags with ${scope} alone`,
      mendsTokens(DELETE_TAG, ({ claims, scopes }) =>
        scopes.join() === scope ? { ...claims, scopes: BOTH } : undefined,
      ),
    ),
  ),
  proxied(
    'scope-updates-repositories-with-git-write',
    'scope.repo-write.lifecycle',
    'updates repositories with git:write',
    mendsTokens('PATCH /api/v1/repo', ({ claims }) => ({ ...claims, scopes: ['repo:write'] })),
  ),
  proxied(
    'scope-wants-more-than-git-write-for-a-merge',
    'scope.write-family',
    'wants more than git:write for a merge',
    changesStatus(/merge$/, 200, 403),
  ),
];
