import { type Mutant, proxied } from '../mutant.js';
import { COMMIT } from '../places.js';
import { setsMember } from '../rewrites.js';

export const rows: readonly Mutant[] = [
  proxied(
    'commit-tells-which-files-a-commit-touched',
    'commit.get.no-diff',
    'tells which files a commit touched',
    setsMember(COMMIT, 'commit.touched', ['README.md']),
  ),
  proxied('commit-takes-head-where-nothing-is-named', 'commit.get.sha.missing', 'takes HEAD where nothing is named', {
    request: (request) => {
      if (request.path === '/api/v1/repos/commit') request.path += '?sha=HEAD';
    },
  }),
];
