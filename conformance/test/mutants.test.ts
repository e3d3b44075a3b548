import t from 'tap';
import { allMutants } from './mutants/rows/index.js';
import { runMutants } from './mutants/run-mutants.js';

/** The runner of tests has one file for each core. */
const LANES = 2;

const control = await runMutants(allMutants(), {
  lanes: LANES,
  onJudged: (mutant, judgements) => {
    for (const { rule, fate, reason } of judgements) {
      t.equal(fate, 'killed', `${rule} notices a server that ${mutant.does} (${mutant.name}): ${reason}`);
    }
  },
});

t.test('a mutant that changes nothing survives, although it is met', async (t) => {
  t.ok(control.met > 0);
  t.same(
    control.judgements.filter(({ fate }) => fate === 'killed' || fate === 'inconclusive'),
    [],
  );
});
