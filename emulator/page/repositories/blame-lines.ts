import type { Blame } from '@emulator/admin/repository-content.js';

/** What blame tells of one line. */
export interface BlamedLine {
  readonly commit: Blame['commits'][number];
  /** Whether the range begins here: what is told once. */
  readonly isFirst: boolean;
  /** 0 (the oldest commit of the file) … AGES - 1 (the newest). */
  readonly age: number;
}

/** As many as the style sheet has: `.age-0` … */
export const AGES = 8;

/** Blame by lines, from 0. Ages are ranks: a file that was made in a day and changed years later has both ends. */
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
