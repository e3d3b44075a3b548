import { type Mutant, proxied } from '../mutant.js';
import { API } from '../places.js';
import { mendsTokens } from '../tokens.js';

export const rows: readonly Mutant[] = [
  proxied(
    'key-checks-no-signature',
    ['key.signature.verified', 'key.signature.tampered'],
    'does not check signatures',
    mendsTokens(API, ({ claims }) => claims),
  ),
];
