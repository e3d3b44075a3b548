import { type Mutant, proxied } from '../mutant.js';
import { BRANCHES, REPOS } from '../places.js';
import { changesStatus } from '../rewrites.js';

export const rows: readonly Mutant[] = [
  proxied(
    'general-has-no-list-of-repositories',
    'general.route.api-prefix',
    'has no list of repositories',
    changesStatus(REPOS, 200, 404),
  ),
  proxied(
    'general-lets-nobody-use-names-in-paths',
    'general.path.slash-as-2f',
    'lets nobody use names in paths',
    changesStatus(BRANCHES, 200, 403),
  ),
  proxied(
    'general-refuses-whatever-has-a-name-in-its-path',
    'general.path.name-in-path',
    'refuses whatever has a name in its path',
    changesStatus(/reset-commits$/, 409, 400),
  ),
];
