import { type Mutant, patched, proxied } from '../mutant.js';
import { ANY } from '../places.js';
import type { Rewrite } from '../proxy.js';
import { mendsTokens, refusesTokens, type SentToken } from '../tokens.js';

/** Keys of the organization that are registered at the server under test. */
const REGISTERED = ['es256', 'es384', 'es512', 'rs256', 'restricted'] as const;

/** Makes the server accept each token for which `isMeant` returns true, even if its signature is invalid. */
const accepts = (isMeant: (token: SentToken) => boolean): Rewrite =>
  mendsTokens(ANY, (token) => (isMeant(token) ? token.claims : undefined));

/** Makes the server accept a token with any signature if its claims equal those of an earlier valid token. */
function remembersClaims(): Rewrite {
  const accepted = new Set<string>();
  return accepts(({ claims, isSignedBy }) => {
    const name = JSON.stringify(claims);
    if (isSignedBy('es256')) accepted.add(name);
    return accepted.has(name);
  });
}

/** Makes the server accept a signature that it has verified before, whatever the claims are. */
function remembersSignatures(): Rewrite {
  const accepted = new Set<string>();
  return accepts(({ signature, isSignedBy }) => {
    if (isSignedBy('es256')) accepted.add(signature);
    return accepted.has(signature);
  });
}

const hasKid = ({ header }: SentToken): boolean => header.kid !== undefined;

/** Servers that wrongly accept or refuse tokens because of their signature, algorithm or key id. */
export const rows: readonly Mutant[] = [
  proxied(
    'key-takes-the-name-of-a-key-for-its-signature',
    'key.signature.verified#kid',
    'verifies no signature of a token whose kid names a registered key',
    accepts((token) => hasKid(token) && !REGISTERED.some(token.isSignedBy)),
  ),
  proxied(
    'key-verifies-with-the-key-in-the-token',
    'key.signature.verified#embedded-key',
    'verifies a signature with the key in the header of the token',
    accepts(({ header }) => header.jwk !== undefined),
  ),
  proxied(
    'key-remembers-claims-without-their-signature',
    'key.signature.tampered#after-valid',
    'caches the claims of accepted tokens without their signature',
    remembersClaims(),
  ),
  proxied(
    'key-remembers-signatures-without-their-claims',
    'key.signature.tampered#signature-seen',
    'caches the signatures of accepted tokens without their claims',
    remembersSignatures(),
  ),
  proxied(
    'key-finds-deleted-ones-by-their-id',
    'key.rotation.deleted#kid',
    'finds a deleted key by its kid',
    accepts(({ header, isSignedBy }) => header.kid === 'deleted' && isSignedBy('deleted')),
  ),
  proxied(
    'jwt-reads-alg-in-lower-case',
    'jwt.alg.list#letters',
    'accepts es256 as the name of ES256',
    accepts(({ header }) => header.alg === 'es256'),
  ),
  proxied(
    'jwt-refuses-none-in-lower-case-only',
    'jwt.alg.none#letters',
    'refuses alg none, and accepts None and NONE',
    accepts(({ header }) => header.alg === 'None' || header.alg === 'NONE'),
  ),
  proxied(
    'jwt-accepts-none-with-a-signature',
    'jwt.alg.none#signed',
    'accepts alg none if the token has a signature',
    accepts(({ header, signature }) => header.alg === 'none' && signature !== ''),
  ),
  proxied(
    'jwt-accepts-a-token-without-its-signature',
    'jwt.alg.none#stripped',
    'accepts a token with alg ES256 and no signature',
    accepts(({ header, signature }) => header.alg === 'ES256' && signature === ''),
  ),
  proxied(
    'jwt-accepts-none-with-a-kid',
    'jwt.alg.none#kid',
    'accepts an unsigned token that names a key',
    accepts((token) => token.header.alg === 'none' && hasKid(token)),
  ),
  proxied(
    'jwt-accepts-the-longer-hmac-algorithms',
    'jwt.alg.hs256#longer',
    'refuses HS256, and takes the public key for the secret of HS384 and HS512',
    accepts(({ header }) => header.alg === 'HS384' || header.alg === 'HS512'),
  ),
  proxied(
    'jwt-accepts-hs256-with-a-kid',
    'jwt.alg.hs256#kid',
    'takes the public key that kid names for the secret of HS256',
    accepts((token) => token.header.alg === 'HS256' && hasKid(token)),
  ),
  proxied(
    'jwt-takes-an-empty-alg-for-the-algorithm-of-the-key',
    'jwt.alg.missing#empty',
    'takes an empty alg for the algorithm of the key',
    accepts(({ header }) => header.alg === ''),
  ),
  proxied(
    'jwt-takes-the-algorithm-of-the-named-key',
    'jwt.alg.missing#kid',
    'takes the algorithm of the key that kid names if the header has none',
    accepts((token) => token.header.alg === undefined && hasKid(token)),
  ),
  proxied(
    'jwt-compares-no-curve',
    'jwt.alg.key-mismatch#curve',
    'verifies ES384 with a key on the curve P-256',
    accepts((token) => token.header.alg === 'ES384' && token.signature.length === 86 && !token.isSignedBy('es256')),
  ),
  proxied(
    'jwt-ignores-alg-if-kid-names-a-key',
    'jwt.alg.key-mismatch#kid',
    'ignores alg if kid names a key',
    accepts((token) => token.header.alg === 'ES384' && hasKid(token) && token.isSignedBy('es256')),
  ),
  proxied(
    'jwt-tries-keys-of-the-same-algorithm-for-a-known-kid',
    'jwt.kid.match-wrong-signature#same-algorithm',
    'tries other keys of the same algorithm than the one that kid names',
    accepts(({ header, isSignedBy }) => header.kid === 'es256' && isSignedBy('restricted')),
  ),
  patched(
    'key-accepts-cached-tokens-of-deleted-keys',
    'key.rotation.in-use',
    'accepts a token that it has verified before, although its key was deleted',
    {
      file: 'auth/authenticate.js',
      find: 'request.ringOf(proven.claims.iss) !== proven.ring',
      replace: 'request.ringOf(proven.claims.iss) === undefined',
    },
  ),
  proxied(
    'jwt-takes-another-known-kid',
    'jwt.kid.match-wrong-signature#other-kid',
    'accepts a token of the first key that names another unrestricted key',
    accepts(
      ({ header, isSignedBy }) => ['es384', 'es512', 'rs256'].includes(String(header.kid)) && isSignedBy('es256'),
    ),
  ),
  proxied(
    'jwt-takes-the-kid-of-a-restricted-key',
    'jwt.kid.match-wrong-signature#restricted-kid',
    'accepts a token of the first key that names a restricted key',
    accepts(({ header, isSignedBy }) => header.kid === 'restricted' && isSignedBy('es256')),
  ),
  proxied(
    'jwt-finds-the-first-key-only-by-its-id',
    'jwt.kid.match#other-key',
    'finds only the first key by its id',
    refusesTokens(ANY, ({ header }) => header.kid !== undefined && header.kid !== 'es256'),
  ),
  proxied(
    'jwt-tries-no-restricted-key-for-an-unknown-kid',
    'jwt.kid.unknown#restricted',
    'tries no restricted key for an unknown kid',
    refusesTokens(ANY, ({ header, isSignedBy }) => header.kid === 'nope' && isSignedBy('restricted')),
  ),
  proxied(
    'jwt-tries-the-first-key-only-for-an-unknown-kid',
    'jwt.kid.unknown#other-key',
    'tries only the first key for an unknown kid',
    refusesTokens(ANY, ({ header, isSignedBy }) => header.kid === 'nope' && !isSignedBy('es256')),
  ),
];
