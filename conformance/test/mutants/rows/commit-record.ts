import { type Mutant, patched, proxied } from '../mutant.js';
import { COMMIT, COMMITS, type Commit, subjectOf } from '../places.js';
import type { Rewrite } from '../proxy.js';
import { changesJson, setsMember } from '../rewrites.js';

/** Decodes UTF-8 bytes of a text as Latin-1, one character for each byte. */
const asLatin1 = (text: string): string => Buffer.from(text).toString('latin1');

interface Person extends Commit {
  author_name: string;
  author_email: string;
  committer_email?: string;
}

/** Changes the commit record in responses. */
const changesRecord = (change: (commit: Person) => void) =>
  changesJson<{ commit: Person }>(COMMIT, ({ commit }) => change(commit), 200);

/** Changes the entries of commit lists in responses. */
const changesEntries = (change: (commit: Person) => void) =>
  changesJson<{ commits?: Person[] }>(COMMITS, ({ commits = [] }) => commits.forEach(change), 200);

/** Makes the server show another message in the record of a commit. */
function changesMessage(change: (message: string) => string): Rewrite {
  return changesJson<{ commit: Commit }>(
    COMMIT,
    ({ commit }) => {
      commit.message = change(commit.message);
    },
    200,
  );
}

export const rows: readonly Mutant[] = [
  proxied(
    'commit-shortens-messages',
    'commit.record.message#long',
    'shows only the first 1,024 characters of a message',
    changesMessage((message) => message.slice(0, 1024)),
  ),
  proxied(
    'commit-escapes-messages',
    'commit.record.message#markup',
    'escapes messages for HTML',
    changesMessage((message) => message.replaceAll('&', '&amp;').replaceAll('<', '&lt;')),
  ),
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
  proxied(
    'commit-decodes-names-as-latin-1',
    'commit.record.author_name#non-ascii',
    'decodes the name of the author as Latin-1',
    changesRecord((commit) => {
      commit.author_name = asLatin1(commit.author_name);
    }),
  ),
  proxied(
    'commit-lists-names-in-ascii',
    'commit.record.author_name#non-ascii',
    'replaces characters that are not ASCII with ? in the authors of listed commits',
    changesEntries((commit) => {
      commit.author_name = commit.author_name.replaceAll(/[^ -~]/gu, '?');
    }),
  ),
  proxied(
    'commit-shows-another-address-for-an-empty-one',
    'commit.record.committer_email#empty',
    'shows the address of the author if that of the committer is empty',
    changesRecord((commit) => {
      commit.committer_email ||= commit.author_email;
    }),
  ),
  proxied(
    'commit-lists-no-empty-addresses',
    'commit.record.committer_email#empty',
    'leaves an empty address of the committer out of listed commits',
    changesEntries((commit) => {
      if (commit.committer_email === '') delete commit.committer_email;
    }),
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
