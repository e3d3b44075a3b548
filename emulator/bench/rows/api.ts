import type { Answer } from '../answer-reader.js';
import type { Fixture } from '../fixture.js';
import { countOutput, git } from '../native-git.js';
import { type Measure, type Row, type Sides, timed } from '../row.js';
import { chooseWords, type SearchWords } from '../search-words.js';
import { APP, type Stage } from '../stage.js';

/** One operation of the API, and the git command that does the same work in the repository itself. */
interface Comparison {
  readonly ask: Ask;
  readonly command: (round: number) => readonly string[];
}

type Ask = (repo: string, round: number) => Promise<Answer>;
type Compare = (stage: Stage) => Comparison | Promise<Comparison>;

export const API_ROWS: readonly Row<Stage>[] = [
  apiRow('metadata-warm', 'metadata of all files, warm', 'git log --name-only', 0.05, warm, metadata),
  apiRow('metadata-cold', 'metadata of all files, cold', 'git log --name-only', 1.3, cold, metadata),
  apiRow('grep-literal-warm', 'grep for a word, warm', 'git grep', 0.1, warm, grep('literal')),
  apiRow('grep-literal-cold', 'grep for a word, cold', 'git grep', 1.3, cold, grep('literal')),
  apiRow('grep-regex-warm', 'grep for an expression, warm', 'git grep', 0.5, warm, grep('expression')),
  apiRow('grep-regex-cold', 'grep for an expression, cold', 'git grep', 1.3, cold, grep('expression')),
  apiRow('archive', 'tar.gz at level 6', 'git archive', 0.75, warm, archive),
  apiRow('diff-1', 'diff of a commit', 'git diff-tree -p', 1, warm, diff),
  { id: 'merge', title: 'merge', peer: 'git merge-tree --write-tree', unit: 'ms', bar: 1, open: openMerge },
  apiRow('blame-warm', 'blame, warm', 'git blame --porcelain', 1.5, warm, blame),
  apiRow('blame-cold', 'blame, cold', 'git blame --porcelain', 1.5, cold, blame),
];

function apiRow(
  id: string,
  title: string,
  peer: string,
  bar: number,
  side: (stage: Stage, ask: Ask) => Measure,
  compare: Compare,
): Row<Stage> {
  return {
    id,
    title,
    peer,
    unit: 'ms',
    bar,
    open: async (stage) => {
      const { ask, command } = await compare(stage);
      return {
        ours: side(stage, ask),
        // 1 is git grep's word for "nothing found".
        native: (round) => timed(() => countOutput(stage.fixture.path, command(round), { accept: [0, 1] })),
      };
    },
  };
}

/** On the repository everything else is asked about. The first round of it is less warm than the others. */
function warm(_stage: Stage, ask: Ask): Measure {
  return (round) => answerTime(() => ask(APP, round));
}

/** On a repository that was pushed for it: nothing of it is in any cache. The process itself is warm. */
function cold({ ours, fixture }: Stage, ask: Ask): Measure {
  return async (round) => {
    const repo = `cold-${round}`;
    await ours.seed(repo, fixture);
    try {
      return await answerTime(() => ask(repo, round));
    } finally {
      await ours.delete(repo);
    }
  };
}

function metadata({ ours, fixture }: Stage): Comparison {
  const tip = fixture.line[0]!;
  return {
    ask: (repo) => ours.api(repo, `/api/repos/${repo}/files/metadata?ref=${tip}`),
    command: () => ['log', '--name-only', '--format=%H', tip],
  };
}

function grep(kind: keyof SearchWords): Compare {
  return async ({ ours, fixture }) => {
    const tip = fixture.line[0]!;
    const { [kind]: pattern } = await chooseWords(fixture);
    const json = { query: { pattern }, ref: tip, pagination: { limit: 10_000 } };
    return {
      ask: (repo) => ours.api(repo, `/api/repos/${repo}/grep`, { json }),
      command: () => ['grep', '-n', '-E', '-e', pattern, tip],
    };
  };
}

function archive({ ours, fixture }: Stage): Comparison {
  const tip = fixture.line[0]!;
  return {
    ask: (repo) => ours.api(repo, `/api/repos/${repo}/archive`, { json: { ref: tip } }),
    command: () => ['archive', '--format=tar.gz', '-6', tip],
  };
}

function diff({ ours, fixture }: Stage): Comparison {
  return {
    ask: (repo, round) => ours.api(repo, `/api/repos/${repo}/diff?ref=${at(fixture, round)}`),
    command: (round) => ['diff-tree', '-p', '-M', '--root', at(fixture, round)],
  };
}

async function blame({ ours, fixture }: Stage): Promise<Comparison> {
  const file = await mostChangedFile(fixture);
  const query = (round: number) => `ref=${at(fixture, round)}&path=${encodeURIComponent(file)}`;
  return {
    ask: (repo, round) => ours.api(repo, `/api/repos/${repo}/blame?${query(round)}`),
    command: (round) => ['blame', '--porcelain', at(fixture, round), '--', file],
  };
}

/** The branch as it was so many first parents ago. */
function at({ line }: Fixture, round: number): string {
  return line[Math.min(round % 20, line.length - 1)]!;
}

/** Milliseconds until an answer was there; undefined when there is no such route. */
async function answerTime(ask: () => Promise<Answer>): Promise<number | undefined> {
  let answer: Answer | undefined;
  const time = await timed(async () => {
    answer = await ask();
  });
  const { status } = answer!;
  if (status === 404) return undefined;
  if (status >= 300) throw new Error(`an operation was answered with ${status}`);
  return time;
}

const AUTHOR = { name: 'Bench', email: 'bench@example.com' };

/** The last merge of the history, made again each round on a branch of its own. */
async function openMerge({ fixture, ours }: Stage): Promise<Sides> {
  const found = await git(fixture.path, ['rev-list', '--merges', '--max-count=1', '--parents', fixture.line[0]!]);
  const [, into, from] = found.split(' ') as [string, string, string];
  return {
    ours: async (round) => {
      const target_branch = `bench-merge-${round}`;
      await ours.api(APP, `/api/repos/${APP}/branches/create`, { json: { base_ref: into, target_branch } });
      const merge = { source_ref: from, target_branch, strategy: 'merge', commit_message: 'Merge', author: AUTHOR };
      return answerTime(() => ours.api(APP, `/api/repos/${APP}/merge`, { json: merge }));
    },
    native: () =>
      timed(() => countOutput(fixture.path, ['merge-tree', '--write-tree', into, from], { accept: [0, 1] })),
  };
}

/** Of the files at the tip the one that the last thousand commits changed most often. */
async function mostChangedFile({ path, line }: Fixture): Promise<string> {
  const present = new Set((await git(path, ['ls-tree', '-r', '--name-only', line[0]!])).split('\n'));
  const changes = await git(path, ['log', '-1000', '--name-only', '--format=', line[0]!]);
  const counts = new Map<string, number>();
  for (const file of changes.split('\n')) if (present.has(file)) counts.set(file, (counts.get(file) ?? 0) + 1);
  return [...counts].sort(([a, most], [b, more]) => more - most || (a < b ? -1 : 1))[0]![0];
}
