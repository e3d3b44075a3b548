import type { RuleResult, Verdict } from '../report/results.js';
import { BROKEN } from './verdict.js';

/** Verdicts that a contradicting variant makes worse. */
const HELD: readonly Verdict[] = ['pass', 'warn', 'observed', 'variant'];

/**
 * Requires one member of each tolerated set for the whole run: a rule that observed another member than the first rule
 * in the list is broken. The order of the list decides, not the order of checking. `shown`: the requests that the
 * report shows for a rule.
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

/** Returns a result as it was before the comparison with other rules. */
export function withoutDrift(result: RuleResult): RuleResult {
  const { without_drift: before, reason, expected, actual, transcript, curl, recipe, ...rest } = result;
  return before === undefined ? result : { ...rest, ...before };
}
