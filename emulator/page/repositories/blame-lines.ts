import type { Blame } from '@emulator/admin/repository-content.js';

/**
 * Commit that last changed one line of a file (`git blame`), with the data that the page needs to show it beside the
 * line.
 */
export interface BlamedLine {
  readonly commit: Blame['commits'][number];
  /** True for the first of consecutive lines that the same commit changed last. Only this line shows the commit. */
  readonly isFirst: boolean;
  /**
   * Age class of the line, which selects its colour: 0 for the oldest commit that changed a line of the file … AGES - 1
   * for the newest.
   */
  readonly age: number;
}

/** Number of CSS classes for the age of a line in the style sheet: `.age-0` … */
export const AGES = 8;

/**
 * Returns for each line of a file, by line number from 0, the commit that last changed it; undefined for a line whose
 * commit is unknown. The age class of a line depends on the rank of its commit by time and not on the time itself, so
 * that all colours are used even if one commit is years newer than others.
 */
export function blameLines({ ranges, commits }: Pick<Blame, 'ranges' | 'commits'>): (BlamedLine | undefined)[] {
  const byTime = [...commits].sort((one, other) => Date.parse(one.committed_at) - Date.parse(other.committed_at));
  const last = Math.max(byTime.length - 1, 1);
  const lineInfo = new Map(
    byTime.map((commit, rank) => {
      const age = byTime.length === 1 ? AGES - 1 : Math.round((rank / last) * (AGES - 1));
      return [commit.oid, { commit, age }];
    }),
  );
  const lines: (BlamedLine | undefined)[] = [];
  for (const { line, lines: length, commit } of ranges) {
    const found = lineInfo.get(commit);
    if (found === undefined) continue;
    for (let at = 0; at < length; at++) lines[line - 1 + at] = { ...found, isFirst: at === 0 };
  }
  return lines;
}
