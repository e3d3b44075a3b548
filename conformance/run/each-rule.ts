import { AssertionError } from 'node:assert';
import { explainBaseline, isBroken } from '../report/reporter.js';
import type { RuleResult, Verdict } from '../report/results.js';

const UNJUDGED: readonly Verdict[] = ['skip', 'blocked'];

/**
 * Thrown by `assertHeld` if the target breaks a rule. As a subclass of `AssertionError`, it lets test runners show the
 * expected and the actual value.
 *
 * ```js
 * const [result] = (await run(target, { only: 'grep' })).rules;
 * assert.throws(() => assertHeld({ ...result, verdict: 'fail' }), RuleBroken);
 * ```
 */
export class RuleBroken extends AssertionError {
  constructor(readonly result: RuleResult) {
    const { id, says, reason, expected, actual, curl } = result;
    const lines = [`${id}: ${says}`, ...(reason === undefined ? [] : [reason]), ...(curl === undefined ? [] : [curl])];
    super({ message: lines.join('\n'), expected, actual, operator: 'conforms' });
    this.name = 'RuleBroken';
  }
}

/**
 * Throws `RuleBroken` if a rule is broken. A test runner can thus report each rule as a test.
 *
 * - `strict`: true if warnings and variants also count as broken. A variant is a permitted response other than the one
 *   that an unclear specification supports best.
 * - `skip`: called with the reason if the rule could not be checked, or if the baseline (list of expected failures)
 *   expects its failure.
 *
 * ```js
 * const { rules } = await run(target, { only: 'grep' });
 * for (const result of rules) assertHeld(result, { skip: (why) => console.log(`${result.id}: ${why}`) });
 * ```
 */
export function assertHeld(
  result: RuleResult,
  { strict = false, skip }: { readonly strict?: boolean; readonly skip?: (reason: string) => void } = {},
): void {
  const { verdict, reason = verdict } = result;
  if (isBroken(result, strict)) throw new RuleBroken(result);
  if (UNJUDGED.includes(verdict) || result.baseline?.state === 'expected') {
    skip?.([reason, ...explainBaseline(result)].join('; '));
  }
}
