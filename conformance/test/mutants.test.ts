import t from 'tap';
import { judgeAll } from './mutants/judge-all.js';
import { allMutants } from './mutants/rows/index.js';

const { complaints } = await judgeAll(allMutants(), {
  lanes: 2,
  onJudged: (mutant, judgements) => {
    for (const { rule, fate, reason } of judgements) {
      t.equal(fate, 'killed', `${rule} notices a server that ${mutant.does} (${mutant.name})`, { reason });
    }
  },
});

t.same(complaints, [], 'every MUST rule has a mutant, and what is kept of them is true');
