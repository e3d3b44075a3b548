import { groupBy } from '../target/json.js';
import { show } from './reporter.js';
import type { Report, RuleResult, Verdict } from './results.js';

/**
 * Group of rule results that a report shows only once, because verdict, reason and values are equal. `first` is the
 * result that is shown. `ids` are the ids of all rules in the group.
 */
export interface Alike {
  readonly first: RuleResult;
  readonly ids: readonly string[];
}

/**
 * Groups results that have the same verdict, reason, expected and actual value, and baseline state (expected failure).
 * The largest group is first.
 */
export function groupAlike(results: readonly RuleResult[]): Alike[] {
  const groups = groupBy(results, ({ verdict, reason, expected, actual, baseline }) =>
    JSON.stringify([verdict, reason, show(expected), show(actual), baseline]),
  );
  return [...groups.values()]
    .map((group) => ({ first: group[0]!, ids: group.map(({ id }) => id) }))
    .sort((a, b) => b.ids.length - a.ids.length);
}

/** Counts results by reason, most frequent first. A result without a reason counts under its verdict. */
export function countReasons(results: readonly RuleResult[]): (readonly [reason: string, count: number])[] {
  return [...groupBy(results, ({ verdict, reason = verdict }) => reason)]
    .map(([reason, group]) => [reason, group.length] as const)
    .sort((a, b) => b[1] - a[1]);
}

/** Returns the results with the given verdict, in the order of the report. */
export function withVerdict({ rules }: Report, verdict: Verdict): readonly RuleResult[] {
  return rules.filter((result) => result.verdict === verdict);
}
