import { allRules } from '../../rules/registry.js';
import type { Judgement } from './judge.js';
import type { Mutant } from './mutant.js';
import { type Control, type MutantRun, runMutants } from './run-mutants.js';
import { findStaleRows, readTable, TABLE_FILE, type TableRow } from './table.js';

export interface Outcome {
  readonly judgements: readonly Judgement[];
  /** What has to be mended, a sentence each. */
  readonly complaints: readonly string[];
}

/** Judges all mutants, and looks at the table that is kept of them, which `tableOf` gives. */
export async function judgeAll(
  mutants: readonly Mutant[],
  run: Omit<MutantRun, 'rules'>,
  tableOf: (judgements: readonly Judgement[]) => readonly TableRow[] = readTable,
): Promise<Outcome> {
  const judgements: Judgement[] = [];
  const control = await runMutants(mutants, {
    ...run,
    rules: allRules(),
    onJudged: (mutant, found) => {
      judgements.push(...found);
      run.onJudged(mutant, found);
    },
  });
  const complaints = [
    ...complaintsOf(control),
    ...unproven(mutants, control).map((rule) => `${rule}: no mutant is named for this rule`),
    ...findStaleRows(tableOf(judgements), mutants, allRules()).map((why) => `${TABLE_FILE}: ${why}`),
  ];
  return { judgements, complaints };
}

/** Without a change no rule is broken, and a patch that changes nothing is met. */
export function complaintsOf({ judgements, met }: Control): string[] {
  const broken = judgements.filter(
    ({ fate, verdict }) => fate === 'killed' || (fate === 'inconclusive' && verdict !== 'skip'),
  );
  return [
    ...broken.map(({ mutant, rule, verdict, reason }) => `${mutant.name}: ${rule} is not kept: ${verdict}, ${reason}`),
    ...(met > 0 ? [] : ['inert-patch: its code never runs']),
  ];
}

/** The MUST rules that can be judged on the emulator, and for which there is no mutant. */
function unproven(mutants: readonly Mutant[], { judgements }: Control): string[] {
  const named = new Set(mutants.flatMap((mutant) => mutant.rules));
  const judged = new Set(judgements.filter(({ verdict }) => verdict !== 'skip').map(({ rule }) => rule));
  return allRules()
    .filter(({ id, level }) => level === 'MUST' && judged.has(id) && !named.has(id))
    .map(({ id }) => id);
}
