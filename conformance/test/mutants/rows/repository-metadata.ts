import { type Mutant, proxied } from '../mutant.js';
import { tokenMutants } from '../operation-tokens.js';
import { REPO } from '../places.js';
import { changesStatus, setsMember } from '../rewrites.js';

export const rows: readonly Mutant[] = [
  proxied('repo-answers-a-read-with-202', 'repo.get.route', 'answers a read with 202', changesStatus(REPO, 200, 202)),
  proxied(
    'repo-hides-the-code-of-a-missing-repository',
    'repo.get.404',
    'hides the code of a missing repository',
    setsMember(REPO, 'code', 'not_found', 404),
  ),
  ...tokenMutants('repo', REPO, 'git:read', {
    noHeader: 'repo.get.401.no-header',
    invalid: 'repo.get.401.invalid-jwt',
  }),
];
