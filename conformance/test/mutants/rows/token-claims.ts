import { type Mutant, patched, proxied } from '../mutant.js';
import { ANY, REPO } from '../places.js';
import { mendsTokens, refusesTokens } from '../tokens.js';

const KNOWN = ['git:read', 'git:write', 'repo:write', 'org:read'];

export const rows: readonly Mutant[] = [
  proxied(
    'claim-needs-no-iss',
    'claim.iss.required',
    'takes a token without iss for one of the organization that is asked',
    mendsTokens(ANY, ({ claims }) => (claims.iss === undefined ? { ...claims, iss: 'demo' } : undefined)),
  ),
  proxied(
    'claim-wants-an-address-as-iss',
    'claim.iss.organization',
    'wants iss to be an address',
    refusesTokens(REPO, ({ claims }) => !String(claims.iss).startsWith('https://')),
  ),
  proxied(
    'claim-tries-the-keys-of-every-organization',
    'claim.iss.selects-keys',
    'tries the keys of every organization',
    mendsTokens(ANY, ({ claims, isSignedBy }) => (isSignedBy('second') ? claims : undefined)),
  ),
  proxied(
    'claim-does-not-look-at-iss',
    'claim.iss.unknown',
    'does not look at iss',
    mendsTokens(ANY, ({ claims, isSignedBy }) => (isSignedBy('es256') ? { ...claims, iss: 'demo' } : undefined)),
  ),
  proxied(
    'claim-lets-other-organizations-in',
    'claim.iss.other-tenant',
    'lets tokens of other organizations in',
    mendsTokens(ANY, ({ claims, isSignedBy }) => (isSignedBy('second') ? { ...claims, iss: 'demo' } : undefined)),
  ),
  proxied(
    'claim-needs-no-sub',
    'claim.sub.required',
    'needs no sub',
    mendsTokens(ANY, ({ claims }) => ({ sub: 'anybody', ...claims })),
  ),
  proxied(
    'claim-gives-scopes-to-who-has-none',
    'claim.scopes.required',
    'takes a token without scopes for one that may do everything',
    mendsTokens(ANY, ({ claims }) => ({ scopes: KNOWN, ...claims })),
  ),
  proxied(
    'claim-passes-over-unknown-scopes',
    'claim.scopes.unknown-name',
    'passes over scopes that it does not know',
    mendsTokens(ANY, ({ claims, scopes }) => ({ ...claims, scopes: scopes.filter((scope) => KNOWN.includes(scope)) })),
  ),
  proxied(
    'claim-does-not-look-at-exp',
    'claim.exp.expired',
    'takes tokens that have expired',
    mendsTokens(ANY, ({ claims }) => ({ ...claims, exp: undefined })),
  ),
  proxied(
    'claim-wants-iat-of-every-token',
    'claim.iat.optional-unrestricted',
    'wants iat of every token',
    refusesTokens(ANY, ({ claims }) => claims.iat === undefined),
  ),
  patched('helper-counts-leap-days', 'helper.default-lifetime', 'makes tokens that live for 366 days', {
    file: 'admin/tokens.js',
    find: 'body.ttl ?? defaultLifetime(key)',
    replace: 'body.ttl ?? 366 * 86_400',
  }),
  patched('helper-lets-tokens-read-only', 'helper.default-scopes', 'makes tokens that may only read Git', {
    file: 'admin/tokens.js',
    find: 'ttl, repo, scopes, sub',
    replace: "ttl, repo, scopes: scopes ?? ['git:read'], sub",
  }),
];
