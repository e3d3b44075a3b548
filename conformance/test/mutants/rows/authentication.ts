import { type Mutant, proxied } from '../mutant.js';
import { ANY } from '../places.js';
import { mendsTokens } from '../tokens.js';

export const rows: readonly Mutant[] = [
  proxied(
    'key-checks-no-signature',
    ['key.signature.verified', 'key.signature.tampered'],
    'does not check signatures',
    mendsTokens(ANY, ({ claims }) => claims),
  ),
];
