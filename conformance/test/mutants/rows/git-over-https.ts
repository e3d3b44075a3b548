import { type Mutant, proxied } from '../mutant.js';
import { REFS } from '../places.js';
import { changesStatus, isAt, setsHeader } from '../rewrites.js';

export const rows: readonly Mutant[] = [
  proxied(
    'git-refuses-git-without-asking-for-a-password',
    'git.challenge.401',
    'refuses Git without asking for a password',
    changesStatus(REFS, 401, 403),
  ),
  proxied(
    'git-asks-git-for-nothing',
    'git.challenge.header',
    'asks Git for nothing',
    setsHeader(REFS, 'www-authenticate'),
  ),
  proxied('git-shows-git-no-refs', 'git.remote.form', 'shows Git no refs', {
    response: (response) => {
      if (isAt(REFS, response.request) && response.status === 200) response.body = Buffer.from('0000');
    },
  }),
];
