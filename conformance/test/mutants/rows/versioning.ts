import { type Mutant, proxied } from '../mutant.js';
import { REPO } from '../places.js';
import { setsMember } from '../rewrites.js';

export const rows: readonly Mutant[] = [
  proxied(
    'version-writes-a-member-in-camelcase',
    'version.wire-names',
    'writes a member in camelCase',
    setsMember(REPO, 'repoId', 'x', 200),
  ),
  proxied(
    'version-answers-in-old-words-only',
    'version.other-names',
    'answers in old words only',
    setsMember(/commit-pack$/, 'result.target_branch', undefined),
  ),
];
