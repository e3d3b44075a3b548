import type { RuleResult, Verdict } from '../../report/results.js';
import { allRules } from '../../rules/registry.js';
import type { Level, Rule } from '../../rules/rule.js';
import type { Lane, Run } from './lane.js';
import { type Mutant, WrongRow } from './mutant.js';

/**
 * What a rule made of a mutant.
 *
 * killed: the rule is broken. silent: it is not, although the mutant changed something while the rule ran. dead: it is
 * not, and nothing that the rule sends meets the change. inconclusive: the rule came to no verdict about the target: it
 * broke itself, was throttled, was skipped, or changed its mind.
 */
export type Fate = 'killed' | 'silent' | 'dead' | 'inconclusive';

export interface Outcome {
  readonly mutant: Mutant;
  readonly rule: string;
  readonly fate: Fate;
  readonly verdict: Verdict;
  /** Why, in the words of the rule. */
  readonly reason: string;
}

/** How a rule says that it is broken. */
const BROKEN: Readonly<Record<Level, Verdict>> = { MUST: 'fail', SHOULD: 'warn', MAY: 'warn', UNSPECIFIED: 'warn' };

const UNDECIDED: readonly Verdict[] = ['error', 'blocked', 'skip', 'flaky'];

export function fateOf(result: Pick<RuleResult, 'level' | 'verdict'>, met: number): Fate {
  if (result.verdict === BROKEN[result.level]) return 'killed';
  if (UNDECIDED.includes(result.verdict)) return 'inconclusive';
  return met > 0 ? 'silent' : 'dead';
}

/** Rules by their ids. Throws at a name that no rule has. */
export function rulesCalled(ids: readonly string[], mutant: Mutant): Rule[] {
  return ids.map((id) => {
    const rule = allRules().find((one) => one.id === id);
    if (rule === undefined)
      throw new WrongRow([`the mutant ${mutant.name} names the rule ${id}, which does not exist`]);
    return rule;
  });
}

/** Runs each rule that a mutant is named for by itself. */
export async function checkNamed(lane: Lane, mutant: Mutant): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const id of mutant.rules) {
    const run = await lane.run(mutant, rulesCalled([id, ...(mutant.beside ?? [])], mutant));
    outcomes.push(...outcomesOf(mutant, run).filter(({ rule }) => rule === id));
  }
  return outcomes;
}

export function outcomesOf(mutant: Mutant, { report, met }: Run): Outcome[] {
  return report.rules.map((result) => ({
    mutant,
    rule: result.id,
    fate: fateOf(result, met),
    verdict: result.verdict,
    reason: result.reason ?? '',
  }));
}
