import { type Mutant, patched, proxied } from '../mutant.js';
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

  proxied(
    'commit-shortens-the-sha',
    'commit.record.sha.string',
    'shows the first twelve digits of a SHA',
    changesJson<{ commit: { sha: string } }>(
      COMMIT,
      ({ commit }) => {
        commit.sha = commit.sha.slice(0, 12);
      },
      200,
    ),
  ),
  patched('commit-names-the-committer-as-author', 'commit.record.author_name', 'names the committer as the author', {
    file: 'api/records.js',
    find: 'author_name: author.name',
    replace: 'author_name: committer.name',
  }),
  patched('commit-names-the-author-as-committer', 'commit.record.committer_name', 'names the author as the committer', {
    file: 'api/records.js',
    find: 'committer_name: committer.name',
    replace: 'committer_name: author.name',
  }),
  patched(
    'commit-shows-the-address-of-the-author-twice',
    'commit.record.committer_email',
    'shows the address of the author as that of the committer',
    {
      file: 'api/records.js',
      find: 'committer_email: committer.email',
      replace: 'committer_email: author.email',
    },
  ),
  patched('commit-shows-when-it-was-committed', 'commit.record.date.author', 'shows when a commit was committed', {
    file: 'api/records.js',
    find: 'date: formatDate(author)',
    replace: 'date: formatDate(committer)',
  }),
];
