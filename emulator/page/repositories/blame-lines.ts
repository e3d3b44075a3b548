import type { Blame } from '@emulator/admin/repository-content.js';

/** Blame information of one line. */
export interface BlamedLine {
  readonly commit: Blame['commits'][number];
  /** True for the first line of a range, where the commit is shown. */
  readonly isFirst: boolean;
  /** Age class: 0 (oldest commit of the file) … AGES - 1 (newest). */
  readonly age: number;
}

/** Number of age classes in the style sheet: `.age-0` … */
export const AGES = 8;

/**
 * Returns blame information by line, from 0. Ages are ranks, so a file written in one day and changed years later uses
 * both ends of the scale.
 */
export function blameLines({ ranges, commits }: Pick<Blame, 'ranges' | 'commits'>): (BlamedLine | undefined)[] {
  const byTime = [...commits].sort((one, other) => Date.parse(one.committed_at) - Date.parse(other.committed_at));
  const last = Math.max(byTime.length - 1, 1);
  const told = new Map(
    byTime.map((commit, rank) => {
      const age = byTime.length === 1 ? AGES - 1 : Math.round((rank / last) * (AGES - 1));
      return [commit.oid, { commit, age }];
    }),
  );
  const lines: (BlamedLine | undefined)[] = [];
  for (const { line, lines: length, commit } of ranges) {
    const found = told.get(commit);
    if (found === undefined) continue;
    for (let at = 0; at < length; at++) lines[line - 1 + at] = { ...found, isFirst: at === 0 };
  }
  return lines;
}
