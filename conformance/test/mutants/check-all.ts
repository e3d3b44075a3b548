import { allRules } from '../../rules/registry.js';
import type { Mutant } from './mutant.js';
import type { Outcome } from './outcome.js';
import { type Control, type MutantRun, runMutants } from './run-mutants.js';
import { findStaleRows, findUnprovenClauses, readTable, TABLE_FILE, type TableRow } from './table.js';

export interface AllOutcomes {
  readonly outcomes: readonly Outcome[];
  /** Problems that make the check fail, such as an outdated row of the table. Each is one sentence. */
  readonly complaints: readonly string[];
}

/**
 * Checks all mutants with the conformance rules. A mutant is a server with one deliberate mistake. Compares the
 * outcomes with the stored table, which `tableOf` returns.
 */
export async function checkAll(
  mutants: readonly Mutant[],
  run: Omit<MutantRun, 'rules'>,
  tableOf: (outcomes: readonly Outcome[]) => readonly TableRow[] = readTable,
): Promise<AllOutcomes> {
  const outcomes: Outcome[] = [];
  const control = await runMutants(mutants, {
    ...run,
    rules: allRules(),
    onChecked: (mutant, found) => {
      outcomes.push(...found);
      run.onChecked(mutant, found);
    },
  });
  const complaints = [
    ...complaintsOf(control),
    ...(control.met > 0 ? [] : ['inert-patch: its code never runs']),
    ...unproven(mutants, control).map((rule) => `${rule}: no mutant is named for this rule`),
    ...findUnprovenClauses(mutants, allRules()),
    ...findStaleRows(tableOf(outcomes), mutants, allRules()).map((why) => `${TABLE_FILE}: ${why}`),
  ];
  return { outcomes, complaints };
}

/** Returns one sentence for each rule that does not pass on the correct server. Skipped rules are allowed. */
export function complaintsOf({ outcomes }: Control): string[] {
  const broken = outcomes.filter(
    ({ fate, verdict }) => fate === 'killed' || (fate === 'inconclusive' && verdict !== 'skip'),
  );
  return broken.map(
    ({ mutant, rule, verdict, reason }) => `${mutant.name}: ${rule} is not kept: ${verdict}, ${reason}`,
  );
}

/**
 * Returns the MUST rules that run on the emulator but that no mutant tests. A mutant is a server with one deliberate
 * mistake. Without one, nothing proves that the rule can fail.
 */
function unproven(mutants: readonly Mutant[], { outcomes }: Control): string[] {
  const named = new Set(mutants.flatMap((mutant) => mutant.rules));
  const checked = new Set(outcomes.filter(({ verdict }) => verdict !== 'skip').map(({ rule }) => rule));
  return allRules()
    .filter(({ id, level }) => level === 'MUST' && checked.has(id) && !named.has(id))
    .map(({ id }) => id);
}
