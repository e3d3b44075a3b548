import { type Mutant, proxied } from '../mutant.js';
import { BRANCHES } from '../places.js';
import { changesJson, changesStatus } from '../rewrites.js';

export const rows: readonly Mutant[] = [
  proxied('other-finds-no-branches', 'other.branches.exists', 'finds no branches', changesStatus(BRANCHES, 200, 404)),
  proxied(
    'other-finds-nothing-to-compare',
    'other.diff.exists',
    'finds nothing to compare',
    changesStatus(/v1\/repos\/diff$/, 200, 404),
  ),
  proxied(
    'other-shows-the-organization-to-anybody',
    'other.err.401.no-header',
    'shows the organization to anybody',
    changesStatus('GET /api/meta', 401, 200),
  ),
  proxied(
    'other-lists-branches-without-cursors',
    'other.named-only',
    'lists branches without cursors',
    changesJson<{ branches: { cursor?: string }[] }>(
      BRANCHES,
      ({ branches }) => {
        for (const branch of branches) delete branch.cursor;
      },
      200,
    ),
  ),
];
