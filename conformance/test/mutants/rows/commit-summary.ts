import { type Mutant, proxied } from '../mutant.js';
import { META } from '../places.js';
import { changesJson } from '../rewrites.js';

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
];
