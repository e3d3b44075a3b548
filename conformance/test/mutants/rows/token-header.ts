import { type Mutant, proxied } from '../mutant.js';
import { ANY, API, REPO } from '../places.js';
import { changesStatus } from '../rewrites.js';
import { changesResponsesTo, mendsTokens, refusesTokens, tokenOf } from '../tokens.js';

const LISTED: readonly unknown[] = ['ES256', 'ES384', 'ES512', 'RS256'];
/** Keys of the organization that may sign tokens for all scopes. */
const REGISTERED = ['es256', 'es384', 'es512', 'rs256'] as const;
const UNKNOWN = 'nope';

export const rows: readonly Mutant[] = [
  proxied('jwt-takes-unsigned-tokens', 'jwt.alg.none', 'takes unsigned tokens', changesStatus(API, 403, 200)),
  proxied(
    'jwt-takes-every-algorithm',
    'jwt.alg.list',
    'takes every algorithm that its library knows',
    mendsTokens(ANY, ({ header, claims }) => (LISTED.includes(header.alg) ? undefined : claims)),
  ),
  proxied(
    'jwt-takes-the-public-key-for-a-secret',
    'jwt.alg.hs256',
    'takes the public key for the secret of HS256',
    mendsTokens(ANY, ({ header, claims }) => (header.alg === 'HS256' ? claims : undefined)),
  ),
  proxied(
    'jwt-takes-the-algorithm-of-the-key',
    'jwt.alg.missing',
    'takes the algorithm of the key where the header has none',
    mendsTokens(ANY, ({ header, claims }) => (header.alg === undefined ? claims : undefined)),
  ),
  proxied(
    'jwt-does-not-look-at-alg',
    'jwt.alg.key-mismatch',
    'checks signatures by the key alone, whatever alg says',
    mendsTokens(ANY, ({ claims, isSignedBy }) => (isSignedBy('es256') ? claims : undefined)),
  ),
  proxied(
    'jwt-wants-another-typ',
    'jwt.typ.jwt',
    'wants typ at+jwt',
    refusesTokens(REPO, ({ header }) => header.typ === 'JWT'),
  ),
  proxied(
    'jwt-wants-a-kid',
    'jwt.kid.absent',
    'wants a kid',
    refusesTokens(REPO, ({ header }) => header.kid === undefined),
  ),
  proxied(
    'jwt-finds-no-key-by-its-id',
    'jwt.kid.match',
    'finds no key by its id',
    refusesTokens(ANY, ({ header }) => header.kid !== undefined && header.kid !== UNKNOWN),
  ),
  proxied(
    'jwt-tries-other-keys-than-the-named-one',
    'jwt.kid.match-wrong-signature',
    'tries other keys than the one that kid names',
    mendsTokens(ANY, ({ header, claims, isSignedBy }) =>
      header.kid !== undefined && REGISTERED.some(isSignedBy) ? claims : undefined,
    ),
  ),
  proxied(
    'jwt-refuses-an-unknown-kid',
    'jwt.kid.unknown',
    'refuses a kid that names no key',
    refusesTokens(ANY, ({ header }) => header.kid === UNKNOWN),
  ),
  proxied(
    'jwt-calls-what-is-no-token-a-bad-request',
    'jwt.malformed',
    'calls what is no JWT a bad request',
    changesResponsesTo(
      (request) => request.headers.authorization !== undefined && tokenOf(request) === undefined,
      (response) => {
        response.status = 400;
      },
    ),
  ),
];
