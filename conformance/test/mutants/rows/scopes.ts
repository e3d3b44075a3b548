import { type Mutant, proxied } from '../mutant.js';
import { ANY, CREATE } from '../places.js';
import { changesStatus } from '../rewrites.js';
import { mendsTokens, refusesTokens } from '../tokens.js';

const DELETE_TAG = /^DELETE .*\/tags\//;
const BOTH = ['git:read', 'git:write'];

const ALL = ['git:read', 'git:write', 'repo:write', 'org:read'];

/** Makes the server replace each scope of a token by the scopes that `read` returns. */
const reads = (read: (scope: string) => string | readonly string[]) =>
  mendsTokens(ANY, ({ claims, scopes }) => ({ ...claims, scopes: scopes.flatMap(read) }));

export const rows: readonly Mutant[] = [
  proxied(
    'scope-compares-beginnings',
    'scope.exact-match#part',
    'takes the beginning of the name of a scope for the scope',
    reads((scope) => ALL.find((known) => known.startsWith(`${scope}:`)) ?? scope),
  ),
  proxied(
    'scope-compares-ends',
    'scope.exact-match#part',
    'takes the text after the colon for the scope',
    reads((scope) => ALL.find((known) => known.endsWith(`:${scope}`)) ?? scope),
  ),
  proxied(
    'scope-reads-longer-names',
    'scope.exact-match#part',
    'takes a longer name for the scope with which it begins',
    reads((scope) => ALL.find((known) => scope.startsWith(`${known}:`)) ?? scope),
  ),
  proxied(
    'scope-splits-texts',
    'scope.exact-match#list',
    'splits the text of a scope at spaces and commas',
    reads((scope) => scope.split(/[ ,]/)),
  ),
  proxied(
    'scope-reads-capital-initials',
    'scope.exact-match#title',
    'ignores a capital letter at the beginning of a word',
    reads((scope) => scope.replace(/\b[A-Z](?=[a-z])/g, (letter) => letter.toLowerCase())),
  ),
  proxied(
    'scope-takes-a-star-for-one-word',
    'scope.star-invalid#family',
    'takes git:* for all scopes of Git, and *:read for all scopes to read',
    reads((scope) => {
      const [family, right] = scope.split(':');
      const isMeant = (known: string) => known === scope.replace('*', known.split(':')[family === '*' ? 0 : 1] ?? '');
      return right !== undefined && scope.includes('*') ? ALL.filter(isMeant) : scope;
    }),
  ),
  proxied(
    'scope-ignores-a-star-beside-others',
    'scope.star-invalid#beside',
    'ignores * if the token lists other scopes',
    mendsTokens(ANY, ({ claims, scopes }) =>
      scopes.length > 1 ? { ...claims, scopes: scopes.filter((scope) => scope !== '*') } : undefined,
    ),
  ),
  proxied(
    'scope-takes-two-at-most',
    'scope.combined#all',
    'refuses tokens with more than two scopes',
    refusesTokens(ANY, ({ scopes }) => scopes.length > 2),
  ),
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
    'scope-looks-at-the-first-only-to-create',
    'scope.combined#order',
    'looks at the first scope of a token only, if it creates a repository',
    mendsTokens(CREATE, ({ claims, scopes }) => ({ ...claims, scopes: scopes.slice(0, 1) })),
  ),
  proxied(
    'scope-lets-nobody-delete-tags',
    'scope.tag-delete.both',
    'wants more than both scopes to delete a tag',
    mendsTokens(DELETE_TAG, ({ claims }) => ({ ...claims, scopes: ['repo:write'] })),
  ),
  proxied(
    'scope-deletes-tags-with-one-order-of-scopes',
    'scope.tag-delete.both#order',
    'deletes a tag only if git:read is the first of the two scopes',
    refusesTokens(DELETE_TAG, ({ scopes }) => scopes[0] === 'git:write'),
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
