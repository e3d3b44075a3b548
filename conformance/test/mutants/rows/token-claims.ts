import { type Mutant, patched, proxied } from '../mutant.js';
import { ANY, REPO } from '../places.js';
import { mendsTokens, refusesTokens } from '../tokens.js';

const KNOWN = ['git:read', 'git:write', 'repo:write', 'org:read'];

export const rows: readonly Mutant[] = [
  proxied(
    'claim-compares-the-beginning-of-iss',
    'claim.iss.unknown#part',
    'takes a longer name for the organization with whose name it begins',
    mendsTokens(ANY, ({ claims }) => (/^demo./.test(String(claims.iss)) ? { ...claims, iss: 'demo' } : undefined)),
  ),
  proxied(
    'claim-looks-for-the-organization-in-iss',
    'claim.iss.unknown#part',
    'takes a name for the organization with whose name it ends',
    mendsTokens(ANY, ({ claims }) => (/.demo$/.test(String(claims.iss)) ? { ...claims, iss: 'demo' } : undefined)),
  ),
  proxied(
    'claim-reads-scope-for-scopes',
    'claim.scopes.required#other-claim',
    'reads the claim scope, a text, if a token has no scopes',
    mendsTokens(ANY, ({ claims: { scope, ...claims } }) =>
      claims.scopes === undefined && typeof scope === 'string' ? { ...claims, scopes: [scope] } : undefined,
    ),
  ),
  proxied(
    'claim-splits-a-text-of-scopes',
    'claim.scopes.array#list',
    'splits scopes at spaces and commas if they are a text',
    mendsTokens(ANY, ({ claims: { scopes, ...claims } }) =>
      typeof scopes === 'string' && /[ ,]/.test(scopes) ? { ...claims, scopes: scopes.split(/[ ,]/) } : undefined,
    ),
  ),
  proxied(
    'claim-looks-at-the-last-scope-only',
    'claim.scopes.unknown-name#first',
    'looks only at the last scope of a token',
    mendsTokens(ANY, ({ claims, scopes }) => (scopes.length > 1 ? { ...claims, scopes: scopes.slice(-1) } : undefined)),
  ),
  proxied(
    'claim-passes-over-values-that-are-no-text',
    'claim.scopes.unknown-name#types',
    'passes over scopes that are not a text',
    mendsTokens(ANY, ({ claims, scopes }) => ({
      ...claims,
      scopes: scopes.filter((scope: unknown) => typeof scope === 'string'),
    })),
  ),
  proxied(
    'claim-takes-the-organization-of-the-named-key',
    'claim.iss.required#kid',
    'takes a token without iss for one of the organization of the key that kid names',
    mendsTokens(ANY, ({ header, claims }) =>
      claims.iss === undefined && header.kid !== undefined ? { ...claims, iss: 'demo' } : undefined,
    ),
  ),
  proxied(
    'claim-takes-the-first-of-several-repositories',
    'claim.repo.one#list',
    'takes the first repository of a list',
    mendsTokens(ANY, ({ claims: { repo, ...claims } }) =>
      Array.isArray(repo) && repo[0] !== 'a' ? { ...claims, repo: repo[0] } : undefined,
    ),
  ),
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
    'claim-compares-exp-only-with-iat',
    'claim.exp.expired#without-iat',
    'takes expired tokens that have no iat',
    mendsTokens(ANY, ({ claims }) => (claims.iat === undefined ? { ...claims, exp: undefined } : undefined)),
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
