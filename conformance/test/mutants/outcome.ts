import type { RuleResult, Verdict } from '../../report/results.js';
import { allRules } from '../../rules/registry.js';
import type { Level, Rule } from '../../rules/rule.js';
import type { Lane, Run } from './lane.js';
import { type Mutant, WrongRow } from './mutant.js';

/**
 * Outcome of checking a mutant (wrong server) with a rule:
 *
 * - killed: the rule detects the mistake.
 * - silent: the rule passes, although the mutant changed something while the rule ran.
 * - dead: the rule passes, because none of its requests reached the changed behaviour.
 * - inconclusive: the rule has no verdict about the server, because it crashed, was throttled, was skipped, or changed
 *   its verdict.
 */
export type Fate = 'killed' | 'silent' | 'dead' | 'inconclusive';

export interface Outcome {
  readonly mutant: Mutant;
  readonly rule: string;
  readonly fate: Fate;
  readonly verdict: Verdict;
  /** Reason for the verdict, as the rule reported it. */
  readonly reason: string;
}

/** Verdict of a rule that detects a mistake, by the requirement level of the rule. */
const BROKEN: Readonly<Record<Level, Verdict>> = { MUST: 'fail', SHOULD: 'warn', MAY: 'warn', UNSPECIFIED: 'warn' };

const UNDECIDED: readonly Verdict[] = ['error', 'blocked', 'skip', 'flaky'];

export function fateOf(result: Pick<RuleResult, 'level' | 'verdict'>, met: number): Fate {
  if (result.verdict === BROKEN[result.level]) return 'killed';
  if (UNDECIDED.includes(result.verdict)) return 'inconclusive';
  return met > 0 ? 'silent' : 'dead';
}

/** Returns the rules with the given ids. Throws if an id does not exist, with the mutant's name in the error. */
export function rulesCalled(ids: readonly string[], mutant: Mutant): Rule[] {
  return ids.map((id) => {
    const rule = allRules().find((one) => one.id === id);
    if (rule === undefined)
      throw new WrongRow([`the mutant ${mutant.name} names the rule ${id}, which does not exist`]);
    return rule;
  });
}

/** Runs each rule of a mutant against it, in a separate run per rule. Returns one outcome per rule. */
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
