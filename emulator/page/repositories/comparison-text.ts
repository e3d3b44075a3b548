import type { Comparison } from '@emulator/admin/repository-compare.js';
import { count } from '../components/time.js';

export type ComparedCommits = Pick<Comparison, 'base' | 'head' | 'merge_base' | 'ahead' | 'behind'>;

/**
 * Describes the relation of two commits in one sentence, such as `topic is 2 commits ahead of main, and 1 commit behind
 * it.`. `base` and `head` in `names` are the names of the commits, such as the names of branches.
 */
export function comparisonText(
  { base: from, head: to, merge_base, ahead, behind }: ComparedCommits,
  { base, head }: { readonly base: string; readonly head: string },
): string {
  if (from === to)
    return base === head ? `Base and head are both ${head}.` : `${head} and ${base} are the same commit.`;
  if (merge_base === null) return `${head} and ${base} have no common history: no commit is an ancestor of both.`;
  if (ahead === 0) return `${head} is ${commits(behind)} behind ${base}, and has no commits that ${base} lacks.`;
  if (behind === 0) return `${head} is ${commits(ahead)} ahead of ${base}.`;
  return `${head} is ${commits(ahead)} ahead of ${base}, and ${commits(behind)} behind it.`;
}

export function commits(number: number): string {
  return `${count(number)} ${number === 1 ? 'commit' : 'commits'}`;
}
