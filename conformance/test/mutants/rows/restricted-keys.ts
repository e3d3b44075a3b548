import { type Mutant, patched, proxied } from '../mutant.js';
import { ANY, API, REFS } from '../places.js';
import { type Place, setsMember } from '../rewrites.js';
import { mendsTokens, refusesTokens, type SentToken } from '../tokens.js';

/**
 * Makes the server ignore a defect of tokens that the restricted key signed. `better` returns correct claims, which
 * replace the wrong ones before the server reads them.
 */
function overlooks(place: Place, isMeant: (token: SentToken) => boolean, better: (token: SentToken) => object) {
  return mendsTokens(place, (token) =>
    token.isSignedBy('restricted') && isMeant(token) ? { ...token.claims, ...better(token) } : undefined,
  );
}

/** Scopes that the restricted key may sign for. */
const ALLOWED = ['git:read', 'org:read'];

const isLong = ({ lifetime }: SentToken): boolean => lifetime > 3600;
const UNTIMED = () => ({ iat: undefined, exp: undefined });

const now = (): number => Math.floor(Date.now() / 1000);
const isWithinAnHour = (exp: unknown, from: unknown): boolean => Number(exp) - Number(from) <= 3600;
const isAllowed = (scope: string): boolean => ALLOWED.includes(scope);

export const rows: readonly Mutant[] = [
  proxied(
    'restricted-counts-the-lifetime-from-now',
    'restricted.lifetime.3601#past-iat',
    'counts the lifetime of a restricted token from now',
    overlooks(ANY, ({ claims }) => claims.nbf === undefined && isWithinAnHour(claims.exp, now()), UNTIMED),
  ),
  proxied(
    'restricted-counts-the-lifetime-from-nbf',
    'restricted.lifetime.3601#past-iat',
    'counts the lifetime of a restricted token from nbf',
    overlooks(ANY, ({ claims }) => isWithinAnHour(claims.exp, claims.nbf), UNTIMED),
  ),
  proxied(
    'restricted-wants-a-new-token',
    'restricted.lifetime.3600#past-iat',
    'refuses a restricted token ten minutes after its iat',
    refusesTokens(ANY, ({ claims, isSignedBy }) => isSignedBy('restricted') && Number(claims.iat) < now() - 600),
  ),
  proxied(
    'restricted-refuses-a-kid',
    'restricted.lifetime.3600#kid',
    'refuses restricted tokens that name their key',
    refusesTokens(ANY, ({ header, isSignedBy }) => isSignedBy('restricted') && header.kid !== undefined),
  ),
  proxied(
    'restricted-lives-for-any-time-with-a-kid',
    'restricted.lifetime.3601#kid',
    'does not look at the lifetime of restricted tokens that name their key',
    overlooks(ANY, ({ header, lifetime }) => lifetime > 3600 && header.kid !== undefined, UNTIMED),
  ),
  proxied(
    'restricted-lives-for-any-time-with-an-unknown-kid',
    'restricted.lifetime.3601#unknown-kid',
    'does not look at the lifetime of restricted tokens that name an unknown key',
    overlooks(ANY, ({ header, lifetime }) => lifetime > 3600 && header.kid === 'nope', UNTIMED),
  ),
  proxied(
    'restricted-signs-for-every-scope-with-an-unknown-kid',
    'restricted.scope.outside#unknown-kid',
    'does not look at the list of a restricted key if the token names an unknown key',
    overlooks(
      ANY,
      ({ header }) => header.kid === 'nope',
      () => ({}),
    ),
  ),
  proxied(
    'restricted-never-expires',
    'restricted.expired',
    'looks at the lifetime of restricted tokens, and not at their expiry',
    overlooks(ANY, ({ claims, lifetime }) => lifetime <= 3600 && Number(claims.exp) < now(), UNTIMED),
  ),
  proxied(
    'restricted-takes-one-scope',
    'restricted.scope.inside#several',
    'refuses restricted tokens with two scopes',
    refusesTokens(ANY, ({ scopes, isSignedBy }) => isSignedBy('restricted') && scopes.length > 1),
  ),
  proxied(
    'restricted-signs-for-every-scope-with-a-kid',
    'restricted.scope.outside#kid',
    'does not look at the list of a restricted key that the token names',
    overlooks(
      ANY,
      ({ header }) => header.kid === 'restricted',
      () => ({}),
    ),
  ),
  proxied(
    'restricted-takes-the-list-of-the-named-key',
    'restricted.scope.outside#other-kid',
    'takes the list of the key that kid names, and verifies with every key',
    overlooks(
      ANY,
      ({ header }) => header.kid === 'es256',
      () => ({}),
    ),
  ),
  proxied(
    'restricted-compares-the-last-scope-only',
    'restricted.scope.one-outside#first',
    'compares only the last scope with the list of a restricted key',
    overlooks(
      ANY,
      ({ scopes }) => scopes.length > 1 && isAllowed(scopes.at(-1) ?? ''),
      () => ({}),
    ),
  ),
  proxied(
    'restricted-compares-scopes-of-git-only',
    'restricted.scope.one-outside#each',
    'compares only scopes of Git with the list of a restricted key',
    overlooks(
      ANY,
      ({ scopes }) => scopes.length > 1 && scopes.every((scope) => isAllowed(scope) || !scope.startsWith('git:')),
      () => ({}),
    ),
  ),
  proxied(
    'unrestricted-ends-after-a-year-on-git',
    'unrestricted.no-lifetime-limit#everywhere',
    'takes lifetimes of up to a year only where Git asks',
    refusesTokens(REFS, ({ lifetime }) => lifetime > 31_536_000),
  ),
  proxied(
    'unrestricted-reads-exp-in-31-bits',
    'unrestricted.no-lifetime-limit#century',
    'refuses an exp after the year 2038',
    refusesTokens(ANY, ({ claims }) => Number(claims.exp) > 2 ** 31 - 1),
  ),
  proxied(
    'unrestricted-takes-no-old-tokens',
    'unrestricted.no-lifetime-limit#old',
    'refuses tokens that were issued more than a day ago',
    refusesTokens(ANY, ({ claims }) => Number(claims.iat) < Date.now() / 1000 - 86_400),
  ),
  proxied(
    'unrestricted-compares-the-last-scope-only',
    'unrestricted.scopes-still-valid#first',
    'looks only at the last scope of a token',
    mendsTokens(ANY, ({ claims, scopes }) => (scopes.length > 1 ? { ...claims, scopes: scopes.slice(-1) } : undefined)),
  ),
  proxied(
    'restricted-needs-no-iat',
    'restricted.iat.required',
    'needs no iat of a restricted key',
    overlooks(ANY, ({ claims }) => claims.iat === undefined, UNTIMED),
  ),
  proxied(
    'restricted-needs-no-exp',
    'restricted.exp.required',
    'needs no exp of a restricted key',
    overlooks(ANY, ({ claims }) => claims.exp === undefined, UNTIMED),
  ),
  proxied(
    'restricted-takes-milliseconds',
    'restricted.seconds',
    'takes times in milliseconds',
    overlooks(ANY, ({ claims }) => Number(claims.iat) > 1e12, UNTIMED),
  ),
  proxied(
    'restricted-takes-an-exp-before-iat',
    'restricted.exp-after-iat.equal',
    'takes an exp that is not after iat',
    overlooks(ANY, ({ lifetime }) => lifetime <= 0, UNTIMED),
  ),
  proxied(
    'restricted-ends-before-an-hour',
    'restricted.lifetime.3600',
    'takes lifetimes of less than 3600 seconds only',
    refusesTokens(ANY, ({ isSignedBy, lifetime }) => isSignedBy('restricted') && lifetime >= 3600),
  ),
  proxied(
    'restricted-lives-for-any-time',
    'restricted.lifetime.3601',
    'does not look at the lifetime of a restricted key',
    overlooks(ANY, isLong, UNTIMED),
  ),
  patched(
    'restricted-lives-for-any-time-to-write',
    'restricted.lifetime.3601',
    'does not look at the lifetime of a restricted key that may write',
    {
      file: 'auth/claims.js',
      find: 'exp - iat <= RESTRICTED_LIFETIME',
      replace: "exp - iat <= (key.allowedScopes.includes('git:write') ? Infinity : RESTRICTED_LIFETIME)",
    },
  ),
  proxied(
    'restricted-allows-no-scope',
    'restricted.scope.inside',
    'takes the list of a restricted key for what it may not sign for',
    refusesTokens(ANY, ({ isSignedBy, scopes }) => isSignedBy('restricted') && scopes.includes('git:read')),
  ),
  proxied(
    'restricted-signs-for-every-scope',
    'restricted.scope.outside',
    'does not look at the list of a restricted key',
    overlooks(
      ANY,
      () => true,
      () => ({}),
    ),
  ),
  proxied(
    'restricted-drops-scopes-outside',
    'restricted.scope.one-outside',
    'drops the scopes that are not on the list, and goes on',
    overlooks(
      ANY,
      () => true,
      () => ({ scopes: ['git:read'] }),
    ),
  ),
  proxied(
    'restricted-gives-the-whole-list',
    'restricted.scope.not-granted',
    'gives every scope on the list of a restricted key',
    overlooks(
      ANY,
      () => true,
      () => ({ scopes: ALLOWED }),
    ),
  ),
  proxied(
    'restricted-calls-a-breach-a-missing-scope',
    'restricted.code',
    'calls a breach of a list a missing scope',
    setsMember(API, 'code', 'insufficient_scope', 403),
  ),
  proxied(
    'restricted-lives-for-any-time-on-git',
    'restricted.git',
    'does not look at the lifetime of a restricted key where Git asks',
    overlooks(REFS, isLong, UNTIMED),
  ),
  proxied(
    'unrestricted-ends-after-a-year',
    'unrestricted.no-lifetime-limit',
    'takes lifetimes of up to a year only',
    refusesTokens(ANY, ({ lifetime }) => lifetime > 31_536_000),
  ),
  proxied(
    'unrestricted-signs-for-any-word',
    'unrestricted.scopes-still-valid',
    'lets an unrestricted key sign for any word',
    mendsTokens(ANY, ({ claims, scopes }) => ({ ...claims, scopes: scopes.map(() => 'git:read') })),
  ),
];
