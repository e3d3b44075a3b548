import { type Mutant, proxied } from '../mutant.js';
import { ANY, META_OF_ORGANIZATION, PACK, REPO } from '../places.js';
import type { Place } from '../rewrites.js';
import { mendsTokens, refusesTokens } from '../tokens.js';

/** Makes the server refuse all tokens with this signature algorithm. */
const refusesAlgorithm = (alg: string, place: Place = ANY) => refusesTokens(place, ({ header }) => header.alg === alg);

export const rows: readonly Mutant[] = [
  ...Object.entries({ ES384: 'key.ec-p384', ES512: 'key.ec-p521', RS256: 'key.rsa' }).map(([alg, rule]) =>
    proxied(
      `key-lets-${alg.toLowerCase()}-only-read`,
      `${rule}#writes`,
      `accepts ${alg} only for reads`,
      refusesAlgorithm(alg, PACK),
    ),
  ),
  proxied('key-does-not-know-es256', 'key.ec-p256', 'does not know ES256', refusesAlgorithm('ES256', REPO)),
  proxied('key-does-not-know-es384', 'key.ec-p384', 'does not know ES384', refusesAlgorithm('ES384')),
  proxied('key-does-not-know-es512', 'key.ec-p521', 'does not know ES512', refusesAlgorithm('ES512')),
  proxied('key-does-not-know-rs256', 'key.rsa', 'does not know RS256', refusesAlgorithm('RS256')),
  proxied(
    'key-signs-for-repositories-only',
    'key.unrestricted',
    'lets no unrestricted key sign for the organization',
    refusesTokens(META_OF_ORGANIZATION, ({ isSignedBy }) => isSignedBy('es256')),
  ),
  proxied(
    'key-refuses-restricted-ones',
    'key.restricted',
    'refuses tokens of restricted keys',
    refusesTokens(ANY, ({ isSignedBy }) => isSignedBy('restricted')),
  ),
  proxied(
    'key-knows-the-first-only',
    'key.rotation.new',
    'looks at the first key of an organization only',
    refusesTokens(ANY, ({ isSignedBy }) => !isSignedBy('es256')),
  ),
  proxied(
    'key-keeps-deleted-ones',
    'key.rotation.deleted',
    'goes on accepting a key that was deleted',
    mendsTokens(ANY, ({ claims, isSignedBy }) => (isSignedBy('deleted') ? claims : undefined)),
  ),
  proxied(
    'key-wants-a-kid',
    'key.pkcs8',
    'refuses tokens that name no key',
    refusesTokens(REPO, ({ header }) => header.kid === undefined),
  ),
];
