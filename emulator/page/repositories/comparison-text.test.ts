import t from 'tap';
import { comparisonText } from './comparison-text.js';

const NAMES = { base: 'main', head: 'topic' };

t.test('the relation of two commits is one sentence', async (t) => {
  const pair = { base: 'a', head: 'b', merge_base: 'c' };
  for (const [compared, text] of [
    [{ ...pair, ahead: 2, behind: 1 }, 'topic is 2 commits ahead of main, and 1 commit behind it.'],
    [{ ...pair, ahead: 1, behind: 1_234 }, 'topic is 1 commit ahead of main, and 1,234 commits behind it.'],
    [{ ...pair, ahead: 3, behind: 0 }, 'topic is 3 commits ahead of main.'],
    [{ ...pair, ahead: 0, behind: 1 }, 'topic is 1 commit behind main, and has no commits that main lacks.'],
    [{ ...pair, head: 'a', ahead: 0, behind: 0 }, 'topic and main are the same commit.'],
    [
      { ...pair, merge_base: null, ahead: 4, behind: 5 },
      'topic and main have no common history: no commit is an ancestor of both.',
    ],
  ] as const)
    t.equal(comparisonText(compared, NAMES), text);
  t.equal(
    comparisonText({ ...pair, head: 'a', ahead: 0, behind: 0 }, { base: 'main', head: 'main' }),
    'Base and head are both main.',
  );
});
