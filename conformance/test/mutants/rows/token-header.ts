import { type Mutant, proxied } from '../mutant.js';
import { API } from '../places.js';
import { changesStatus } from '../rewrites.js';

export const rows: readonly Mutant[] = [
  proxied('jwt-takes-unsigned-tokens', 'jwt.alg.none', 'takes unsigned tokens', changesStatus(API, 403, 200)),
];
