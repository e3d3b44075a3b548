import t from 'tap';
import { allRules } from '../rules/registry.js';
import { shuffled } from '../run/shards.js';
import { complaintsOf } from './mutants/check-all.js';
import { allMutants } from './mutants/rows/index.js';
import { runMutants } from './mutants/run-mutants.js';
import { findStaleRows, findUnprovenClauses, readTable } from './mutants/table.js';

/**
 * Number of randomly chosen mutants that this test checks. A mutant is a server with one deliberate mistake. `npm run
 * mutants` and CI check all mutants.
 */
const SAMPLE = 60;

const seed = Number(process.env.MUTANTS_SEED ?? Math.floor(Math.random() * 2 ** 32));
t.comment(`a sample of ${SAMPLE} of ${allMutants().length} mutants; MUTANTS_SEED=${seed} draws it again`);

const control = await runMutants(shuffled(allMutants(), seed).slice(0, SAMPLE), {
  lanes: 1,
  onChecked: (mutant, outcomes) => {
    for (const { rule, fate, reason } of outcomes) {
      t.equal(fate, 'killed', `${rule} notices a server that ${mutant.does} (${mutant.name})`, { reason });
    }
  },
});

t.same(complaintsOf(control), [], 'without a change every rule holds');
t.same(findUnprovenClauses(allMutants(), allRules()), [], 'each clause of a rule has a mutant');
t.same(findStaleRows(readTable(), allMutants(), allRules()), [], 'fixtures/conformance-mutants.tsv is up to date');
