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

/** For which reasons these have their verdicts, and how many each, the commonest first. */
export function countReasons(results: readonly RuleResult[]): (readonly [reason: string, count: number])[] {
  const reasons = new Map<string, number>();
  for (const { verdict, reason = verdict } of results) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  return [...reasons].sort((a, b) => b[1] - a[1]);
}

/** The results with this verdict. */
export function withVerdict({ rules }: Report, verdict: Verdict): readonly RuleResult[] {
  return rules.filter((result) => result.verdict === verdict);
}
