import { type Mutant, proxied } from '../mutant.js';
import { type Commit, META, subjectOf } from '../places.js';
import type { Rewrite } from '../proxy.js';
import { changesJson } from '../rewrites.js';

interface Summary extends Commit {
  author: string;
  date: unknown;
}

/** Changes each commit in the member `commits` of file metadata responses. */
function changesSummaries(change: (summary: Summary) => void): Rewrite {
  return changesJson<{ commits: Record<string, Summary> }>(
    META,
    ({ commits }) => Object.values(commits).forEach(change),
    200,
  );
}

export const rows: readonly Mutant[] = [
  proxied(
    'commit-summary-lists-a-commit-that-no-file-refers-to',
    'commit-summary.dedup',
    'lists a commit that no file refers to',
    changesJson<{ commits: Record<string, unknown> }>(
      META,
      ({ commits }) => {
        commits['5ca1ab1e0ddba11c0ffee000facade0123456789'] = Object.values(commits)[0];
      },
      200,
    ),
  ),
  proxied(
    'commit-summary-dates-every-commit-alike',
    'commit-summary.date.which',
    'dates every commit alike',
    changesJson<{ commits: Record<string, { date: string }> }>(
      META,
      ({ commits }) => {
        for (const commit of Object.values(commits)) commit.date = '2001-02-03T04:05:06Z';
      },
      200,
    ),
  ),

  proxied(
    'commit-summary-lists-commits',
    'commit-summary.keyed-by-sha',
    'has a list of commits in place of an object',
    changesJson<{ commits: object }>(
      META,
      (body) => {
        body.commits = Object.values(body.commits);
      },
      200,
    ),
  ),
  proxied(
    'commit-summary-shows-addresses',
    'commit-summary.author',
    'shows the address of the author with the name',
    changesSummaries((summary) => {
      summary.author = `${summary.author} <nora@example.com>`;
    }),
  ),
  proxied(
    'commit-summary-decodes-names-as-latin-1',
    'commit-summary.author#non-ascii',
    'decodes the name of the author as Latin-1',
    changesSummaries((summary) => {
      summary.author = Buffer.from(summary.author).toString('latin1');
    }),
  ),
  proxied(
    'commit-summary-counts-seconds',
    'commit-summary.date',
    'counts seconds since 1970',
    changesSummaries((summary) => {
      summary.date = Date.parse(String(summary.date)) / 1000;
    }),
  ),
  proxied(
    'commit-summary-shows-subjects',
    'commit-summary.message.full',
    'shows the first line of a message',
    changesSummaries((summary) => {
      summary.message = subjectOf(summary);
    }),
  ),
];
