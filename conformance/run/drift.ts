import type { RuleResult, Verdict } from '../report/results.js';
import { BROKEN } from './verdict.js';

/**
 * Verdicts of rules that are not broken, or only with a warning. Such a verdict becomes worse if the rule observed
 * another variant than an earlier rule. Other verdicts do not change.
 */
const HELD: readonly Verdict[] = ['pass', 'warn', 'observed', 'variant'];

/**
 * Requires that the target uses the same variant in the whole run wherever the specification permits several responses.
 * A rule is broken if it observed another variant than the first rule in the list. The order of the list decides, not
 * the order in which rules were checked, because rules run concurrently. `shown` returns the requests that the report
 * shows for a newly broken rule.
 */
export function settleVariants(
  results: readonly RuleResult[],
  shown: (id: string) => Pick<RuleResult, 'transcript' | 'curl' | 'recipe'> = () => ({}),
): { readonly results: RuleResult[]; readonly variants: Record<string, string> } {
  const first = new Map<string, { readonly member: string; readonly id: string }>();
  const settled = results.map(withoutDrift).map((result) => {
    let drifted = result;
    for (const [key, member] of Object.entries(result.variants ?? {})) {
      const earlier = first.get(key);
      if (earlier === undefined) first.set(key, { member, id: result.id });
      else if (earlier.member !== member && drifted === result && HELD.includes(result.verdict)) {
        const { verdict, reason } = result;
        drifted = {
          ...result,
          verdict: BROKEN[result.level],
          reason: `${key}: must be the same in all responses (see ${earlier.id})`,
          expected: earlier.member,
          actual: member,
          without_drift: { verdict, ...(reason === undefined ? {} : { reason }) },
          ...shown(result.id),
        };
      }
    }
    return drifted;
  });
  const members = [...first].map(([key, { member }]) => [key, member] as const);
  return { results: settled, variants: Object.fromEntries(members.sort()) };
}

/**
 * Returns a result without the changes that `settleVariants` made because of other rules. Verdicts can then be compared
 * again, for example after merging the results of several shards (parts of a run).
 */
export function withoutDrift(result: RuleResult): RuleResult {
  const { without_drift: before, reason, expected, actual, transcript, curl, recipe, ...rest } = result;
  return before === undefined ? result : { ...rest, ...before };
}
