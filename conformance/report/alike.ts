import { groupBy } from '../target/json.js';
import { show } from './reporter.js';
import type { Report, RuleResult, Verdict } from './results.js';

/** Results with the same content, reported together. */
export interface Alike {
  readonly first: RuleResult;
  readonly ids: readonly string[];
}

/** Groups results by content, largest group first. */
export function groupAlike(results: readonly RuleResult[]): Alike[] {
  const groups = groupBy(results, ({ verdict, reason, expected, actual, baseline }) =>
    JSON.stringify([verdict, reason, show(expected), show(actual), baseline]),
  );
  return [...groups.values()]
    .map((group) => ({ first: group[0]!, ids: group.map(({ id }) => id) }))
    .sort((a, b) => b.ids.length - a.ids.length);
}

/** Counts results by reason, most frequent first. */
export function countReasons(results: readonly RuleResult[]): (readonly [reason: string, count: number])[] {
  return [...groupBy(results, ({ verdict, reason = verdict }) => reason)]
    .map(([reason, group]) => [reason, group.length] as const)
    .sort((a, b) => b[1] - a[1]);
}

/** Returns the results with this verdict. */
export function withVerdict({ rules }: Report, verdict: Verdict): readonly RuleResult[] {
  return rules.filter((result) => result.verdict === verdict);
}
