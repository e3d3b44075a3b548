import { show } from './reporter.js';
import type { Report, RuleResult, Verdict } from './results.js';

/** Results that say the same: whoever reads of one has read of all. */
export interface Alike {
  readonly first: RuleResult;
  readonly ids: readonly string[];
}

/** Results by what they say, the commonest first. */
export function groupAlike(results: readonly RuleResult[]): Alike[] {
  const groups = new Map<string, { readonly first: RuleResult; readonly ids: string[] }>();
  for (const result of results) {
    const { verdict, reason, expected, actual, baseline } = result;
    const key = JSON.stringify([verdict, reason, show(expected), show(actual), baseline]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { first: result, ids: [result.id] });
    else group.ids.push(result.id);
  }
  return [...groups.values()].sort((a, b) => b.ids.length - a.ids.length);
}

/** How many rules have this verdict for which reason, the commonest first. */
export function countReasons({ rules }: Report, verdict: Verdict): (readonly [reason: string, count: number])[] {
  const reasons = new Map<string, number>();
  for (const { verdict: own, reason = '' } of rules) {
    if (own === verdict) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  return [...reasons].sort((a, b) => b[1] - a[1]);
}
