import t from 'tap';
import { checkAll } from './mutants/check-all.js';
import { allMutants } from './mutants/rows/index.js';

const { complaints } = await checkAll(allMutants(), {
  lanes: 1,
  onChecked: (mutant, outcomes) => {
    for (const { rule, fate, reason } of outcomes) {
      t.equal(fate, 'killed', `${rule} notices a server that ${mutant.does} (${mutant.name})`, { reason });
    }
  },
});

t.same(complaints, [], 'every MUST rule has a mutant, and what is kept of them is true');
