import type { Blame } from '@emulator/admin/repository-content.js';

/** Commit that last changed one line of a file (`git blame`), with the data for showing it beside the line. */
export interface BlamedLine {
  readonly commit: Blame['commits'][number];
  /** True for the first of consecutive lines that one commit changed last. Only this line shows the commit. */
  readonly isFirst: boolean;
  /**
   * Age class of the line, which selects its colour. 0 stands for the oldest commit that changed a line of the file,
   * AGES - 1 for the newest.
   */
  readonly age: number;
}

/** Number of age classes of lines. The style sheet has one CSS class for each: `.age-0`, `.age-1` … */
export const AGES = 8;

/**
 * Returns the commit that last changed each line of a file, by line number from 0. The element is undefined if the
 * commit of the line is unknown.
 *
 * The age class of a line depends on the rank of its commit by time, not on the time itself. All colours are therefore
 * used even if one commit is years newer than the others.
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
