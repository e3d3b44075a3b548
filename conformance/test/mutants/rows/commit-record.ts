import { type Mutant, proxied } from '../mutant.js';
import { COMMIT, COMMITS, type Commit, subjectOf } from '../places.js';
import { changesJson, setsMember } from '../rewrites.js';

export const rows: readonly Mutant[] = [
  proxied(
    'commit-leaves-the-address-of-the-author-out',
    'commit.record.author_email',
    'leaves the address of the author out',
    setsMember(COMMIT, 'commit.author_email', undefined),
  ),
  proxied(
    'commit-writes-the-date-as-git-does',
    'commit.record.date.rfc3339',
    'writes the date as Git does',
    setsMember(COMMIT, 'commit.date', '1700000000 +0000'),
  ),
  proxied(
    'commit-shows-the-first-line-only',
    'commit.record.message',
    'shows the first line only',
    changesJson<{ commit: Commit }>(
      COMMIT,
      ({ commit }) => {
        commit.message = subjectOf(commit);
      },
      200,
    ),
  ),
  proxied(
    'commit-lists-no-commits',
    'commit.record.same-as-list',
    'lists no commits',
    setsMember(COMMITS, 'commits', []),
  ),
  proxied(
    'commit-lists-subjects-for-messages',
    'commit.record.same-as-list',
    'lists subjects for messages',
    changesJson<{ commits?: Commit[] }>(COMMITS, ({ commits = [] }) => {
      for (const commit of commits) commit.message = subjectOf(commit);
    }),
  ),
];
