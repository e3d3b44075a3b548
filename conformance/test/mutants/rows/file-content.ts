import { type Mutant, proxied } from '../mutant.js';
import { type Commit, FILE, META } from '../places.js';
import type { Rewrite } from '../proxy.js';
import { changesJson, changesQuery, isAt } from '../rewrites.js';

interface Listing {
  files: { path: string; size: number; last_commit_sha: string }[];
  commits: Record<string, Commit & { author: string }>;
}

function changesListing(change: (listing: Listing) => unknown): Rewrite {
  return changesJson<Listing>(META, (listing) => void change(listing), 200);
}

function changesMessages(change: (message: string) => string): Rewrite {
  return changesListing(({ commits }) => {
    for (const commit of Object.values(commits)) commit.message = change(commit.message);
  });
}

/** Changes the bytes of files that the server returns. */
function changesBytes(change: (bytes: Buffer) => Buffer): Rewrite {
  return {
    response: (response) => {
      if (isAt(FILE, response.request) && response.status === 200) response.body = change(response.body);
    },
  };
}

/** Makes file metadata report the last commit of the file `of` as the last commit of the file `path`. */
function showsCommitOf(path: string, of: string): Rewrite {
  return changesListing(({ files }) => {
    const file = files.find((one) => one.path === path);
    const other = files.find((one) => one.path === of);
    if (file !== undefined && other !== undefined) file.last_commit_sha = other.last_commit_sha;
  });
}

/**
 * Makes file metadata on the branch `apart` report the wrong last commit of `right.txt`. It is the one of the default
 * branch.
 */
function showsCommitOfAnotherBranch(): Rewrite {
  let sha: string | undefined;
  return changesJson<Listing>(
    META,
    ({ files }, { request }) => {
      const right = files.find(({ path }) => path === 'right.txt');
      if (right === undefined) return;
      if (!request.path.includes('ref=apart')) sha = right.last_commit_sha;
      else if (sha !== undefined) right.last_commit_sha = sha;
    },
    200,
  );
}

const isText = (bytes: Buffer) => !bytes.includes(0);
const MIB = 1 << 20;

export const rows: readonly Mutant[] = [
  proxied(
    'file-converts-line-endings',
    'file.bytes#line-endings',
    'sends text files with other line endings',
    changesBytes((bytes) => (isText(bytes) ? Buffer.from(bytes.toString('utf8').replaceAll('\r\n', '\n')) : bytes)),
  ),
  proxied(
    'file-drops-byte-order-marks',
    'file.bytes#line-endings',
    'sends text files without their byte order marks',
    changesBytes((bytes) => bytes.subarray(bytes.indexOf('\ufeff') === 0 ? 3 : 0)),
  ),
  proxied(
    'file-cuts-files-at-1-mib',
    'file.bytes#large',
    'sends the first MiB of a file',
    changesBytes((bytes) => bytes.subarray(0, MIB)),
  ),
  proxied(
    'file-decodes-paths-twice',
    'file.path.nested#decoded-once',
    'decodes paths twice',
    changesQuery(FILE, (query) => {
      const path = query.get('path');
      if (path?.includes('%')) query.set('path', decodeURIComponent(path));
    }),
  ),
  proxied(
    'file-looks-for-dots-at-the-start',
    'file.path.invalid#inside',
    'looks for .. only at the start of a path, and cannot find the file otherwise',
    {
      response: (response) => {
        if (isAt(FILE, response.request) && /path=\w+(\/|%2F)\.\./.test(response.request.path)) response.status = 404;
      },
    },
  ),
  proxied(
    'file-entry-counts-at-most-1-mib',
    'file-entry.size.number#large',
    'counts at most 1 MiB',
    changesListing(({ files }) => {
      for (const file of files) file.size = Math.min(file.size, MIB);
    }),
  ),
  proxied(
    'file-entry-counts-converted-line-endings',
    'file-entry.size.number#line-endings',
    'counts each end of a line as one byte',
    changesListing(({ files }) => {
      for (const file of files) if (file.path === 'crlf.txt') file.size -= 3;
    }),
  ),
  proxied(
    'file-entry-follows-first-parents',
    'file-entry.last_commit_sha.string#merge',
    'shows the merge as the last commit of a file that the merge took from a branch',
    showsCommitOf('right.txt', 'both.txt'),
  ),
  proxied(
    'file-entry-passes-over-merges',
    'file-entry.last_commit_sha.string#in-merge',
    'shows no merge as the last commit of a file',
    showsCommitOf('both.txt', 'right.txt'),
  ),
  proxied(
    'file-entry-shows-who-wrote-the-content-first',
    'file-entry.last_commit_sha.string#reverted',
    'shows the first commit with the content of the file',
    showsCommitOf('restored.txt', 'apart.txt'),
  ),
  proxied(
    'file-entry-looks-at-other-branches',
    'file-entry.last_commit_sha.string#other-branch',
    'shows a commit of another branch as the last one of a file',
    showsCommitOfAnotherBranch(),
  ),
  proxied(
    'commit-summary-shows-one-author',
    'commit-summary.author#each-commit',
    'shows the same author for each commit',
    changesListing(({ commits }) => {
      const [first] = Object.values(commits);
      for (const commit of Object.values(commits)) commit.author = first?.author ?? '';
    }),
  ),
  proxied(
    'commit-summary-cuts-lines-at-100',
    'commit-summary.message.full#long-lines',
    'cuts lines of messages after 100 characters',
    changesMessages((message) => message.replace(/(.{100}).*/g, '$1')),
  ),
  proxied(
    'commit-summary-cuts-messages-at-1000',
    'commit-summary.message.full#long-text',
    'cuts messages after 1000 characters',
    changesMessages((message) => message.slice(0, 1000)),
  ),
  proxied(
    'commit-summary-joins-paragraphs',
    'commit-summary.message.full#paragraphs',
    'shows messages without blank lines between paragraphs of the body',
    changesMessages((message) => message.replace(/(\n\n[^\n]+)\n\n/g, '$1\n')),
  ),
  proxied(
    'commit-summary-removes-indentation',
    'commit-summary.message.full#paragraphs',
    'removes white space at the start of lines',
    changesMessages((message) => message.replace(/^\s+/gm, (space) => space.replace(/\t/g, ''))),
  ),
  proxied(
    'file-entry-does-not-look-at-modes',
    'file-entry.last_commit_sha.string#mode',
    'shows the last commit that changed the content of a file, not its mode',
    showsCommitOf('run.sh', 'apart.txt'),
  ),
  proxied(
    'file-entry-finds-files-by-content',
    'file-entry.last_commit_sha.string#copy',
    'shows for a file the commit of an older file with the same content',
    showsCommitOf('copy.txt', 'left.txt'),
  ),
];
