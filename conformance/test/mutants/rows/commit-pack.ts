import { type Mutant, proxied } from '../mutant.js';
import { PACK } from '../places.js';
import { ignoresMember } from '../rewrites.js';

export const rows: readonly Mutant[] = [
  proxied(
    'pack-keeps-what-is-deleted',
    'pack.file.op.delete',
    'keeps what is deleted',
    ignoresMember(PACK, 'operation'),
  ),
  proxied('pack-ignores-modes', 'pack.file.mode.100755', 'does not look at modes', ignoresMember(PACK, 'mode')),
];
