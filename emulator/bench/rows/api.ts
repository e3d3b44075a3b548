import { answerTime } from '../answer-time.js';
import { archive, blame, type Compare, diff, grep, metadata } from '../comparisons.js';
import { countOutput, git } from '../native-git.js';
import { type Row, type Sides, timed } from '../row.js';
import { APP, type Stage } from '../stage.js';

export const API_ROWS: readonly Row<Stage>[] = [
  apiRow('metadata-warm', 'metadata of all files, warm', 'git log --name-only', 0.05, metadata),
  apiRow('grep-literal-warm', 'grep for a word, warm', 'git grep', 0.06, grep('literal')),
  apiRow('grep-regex-warm', 'grep for an expression, warm', 'git grep', 0.5, grep('expression')),
  apiRow('archive', 'tar.gz at level 6', 'git archive', 0.75, archive),
  apiRow('diff-1', 'diff of a commit', 'git diff-tree -p', 1, diff),
  { id: 'merge', title: 'merge', peer: 'git merge-tree --write-tree', unit: 'ms', bar: 1, open: openMerge },
  apiRow('blame-warm', 'blame, warm', 'git blame --porcelain', 1.5, blame),
];

function apiRow(id: string, title: string, peer: string, bar: number, compare: Compare): Row<Stage> {
  return {
    id,
    title,
    peer,
    unit: 'ms',
    bar,
    open: async (stage) => {
      const { ask, command } = await compare(stage.fixture);
      // What is asked first has a row of its own.
      await answerTime(() => ask(stage.ours, APP, 0));
      return {
        ours: (round) => answerTime(() => ask(stage.ours, APP, round)),
        // 1 is git grep's word for "nothing found".
        native: (round) => timed(() => countOutput(stage.fixture.path, command(round), { accept: [0, 1] })),
      };
    },
  };
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
