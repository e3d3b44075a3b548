import type { Answer } from './answer-reader.js';
import type { Fixture } from './fixture.js';
import { git } from './native-git.js';
import type { Remote } from './remote.js';
import { chooseWords, type SearchWords } from './search-words.js';

/** One operation of the API, and the git command that does the same work in the repository itself. */
export interface Comparison {
  readonly ask: (remote: Remote, repo: string, round: number) => Promise<Answer>;
  readonly command: (round: number) => readonly string[];
}

export type Compare = (fixture: Fixture) => Comparison | Promise<Comparison>;

const PATCHES = 50;

export function metadata(fixture: Fixture): Comparison {
  const tip = fixture.line[0]!;
  return {
    ask: (remote, repo) => remote.api(repo, `/api/repos/${repo}/files/metadata?ref=${tip}`),
    command: () => ['log', '--name-only', '--format=%H', tip],
  };
}

export function grep(kind: keyof SearchWords): Compare {
  return async (fixture) => {
    const tip = fixture.line[0]!;
    const { [kind]: pattern } = await chooseWords(fixture);
    const json = { query: { pattern }, ref: tip, pagination: { limit: 10_000 } };
    return {
      ask: (remote, repo) => remote.api(repo, `/api/repos/${repo}/grep`, { json }),
      command: () => ['grep', '-n', '-E', '-e', pattern, tip],
    };
  };
}

export function archive(fixture: Fixture): Comparison {
  const tip = fixture.line[0]!;
  return {
    ask: (remote, repo) => remote.api(repo, `/api/repos/${repo}/archive`, { json: { ref: tip } }),
    command: () => ['archive', '--format=tar.gz', '-6', tip],
  };
}

export function diff(fixture: Fixture): Comparison {
  return {
    ask: (remote, repo, round) => remote.api(repo, `/api/repos/${repo}/diff?ref=${at(fixture, round)}`),
    command: (round) => ['diff-tree', '-p', '-M', '--root', at(fixture, round)],
  };
}

export async function blame(fixture: Fixture): Promise<Comparison> {
  const file = await mostChangedFile(fixture);
  const query = (round: number) => `ref=${at(fixture, round)}&path=${encodeURIComponent(file)}`;
  return {
    ask: (remote, repo, round) => remote.api(repo, `/api/repos/${repo}/blame?${query(round)}`),
    command: (round) => ['blame', '--porcelain', at(fixture, round), '--', file],
  };
}

/** The last commits of the branch one after the other, each by a request of its own. */
export function patches(fixture: Fixture): Comparison {
  const commits = fixture.line.slice(0, PATCHES);
  return {
    ask: async (remote, repo) => {
      let answer: Answer | undefined;
      for (const commit of commits) {
        answer = await remote.api(repo, `/api/repos/${repo}/diff?ref=${commit}`);
        if (answer.status !== 200) break;
      }
      return answer!;
    },
    command: () => ['log', '-p', '-M', '--first-parent', '-m', `-${commits.length}`, commits[0]!],
  };
}

/** The branch as it was so many first parents ago. */
function at({ line }: Fixture, round: number): string {
  return line[Math.min(round % 20, line.length - 1)]!;
}

/** Of the files at the tip the one that the last thousand commits changed most often. */
async function mostChangedFile({ path, line }: Fixture): Promise<string> {
  const present = new Set((await git(path, ['ls-tree', '-r', '--name-only', line[0]!])).split('\n'));
  const changes = await git(path, ['log', '-1000', '--name-only', '--format=', line[0]!]);
  const counts = new Map<string, number>();
  for (const file of changes.split('\n')) if (present.has(file)) counts.set(file, (counts.get(file) ?? 0) + 1);
  return [...counts].sort(([a, most], [b, more]) => more - most || (a < b ? -1 : 1))[0]![0];
}
