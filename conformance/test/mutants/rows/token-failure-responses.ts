import { type Mutant, proxied } from '../mutant.js';
import { API } from '../places.js';
import { changesStatus } from '../rewrites.js';

export const rows: readonly Mutant[] = [
  proxied(
    'authfail-answers-403-without-a-token',
    'authfail.401.no-header',
    'answers 403 without a token',
    changesStatus(API, 401, 403),
  ),
];
