import { type Mutant, proxied } from '../mutant.js';
import { API } from '../places.js';
import { changesStatus } from '../rewrites.js';

export const rows: readonly Mutant[] = [
  proxied(
    'state-is-locked-while-it-thaws',
    'state.thawing.409',
    'is locked while it thaws',
    changesStatus(API, 409, 423),
  ),
];
