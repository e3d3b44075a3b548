import { type Mutant, proxied } from '../mutant.js';
import { PACK } from '../places.js';
import { changesStatus } from '../rewrites.js';

export const rows: readonly Mutant[] = [
  proxied(
    'scope-lets-readers-write',
    'scope.matrix.pack.git-read',
    'lets readers write',
    changesStatus(PACK, 403, 201),
  ),
  proxied(
    'scope-wants-more-than-git-read-for-blame',
    'scope.read-family',
    'wants more than git:read for blame',
    changesStatus(/blame$/, 200, 403),
  ),
];
