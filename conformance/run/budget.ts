import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Budget } from '../report/results.js';
import type { Rule } from '../rules/rule.js';
import type { Target } from '../target/target.js';
import { reasonToSkip } from './judge.js';
import { packageRoot } from './version.js';

/** What a rule asks that is not in the table yet. */
const UNKNOWN = 4;

/** How many requests each rule sent to the emulator, and each fixture, printed by `test/record-requests.ts`. */
export interface RecordedRequests {
  readonly rules: Readonly<Record<string, number>>;
  /** What rules share: made once for a run, or for each group. */
  readonly shared: number;
  readonly group: number;
}

export function readRecordedRequests(): RecordedRequests {
  return JSON.parse(readFileSync(join(packageRoot(), 'fixtures', 'rule-requests.json'), 'utf8'));
}

/** About how many requests a rule sends to a target; 0 where it is not tried there. */
export function requestsOf(rule: Rule, target: Target, recorded: RecordedRequests): number {
  if (rule.check === undefined || reasonToSkip(rule, target) !== undefined) return 0;
  return recorded.rules[rule.id] ?? UNKNOWN;
}

/** About how many requests a run of these rules sends, those of cleaning up included. */
export function estimateRequests(rules: readonly Rule[], target: Target, recorded: RecordedRequests): number {
  const own = rules.map((rule) => requestsOf(rule, target, recorded)).filter((requests) => requests > 0);
  const groups = new Set(rules.filter((rule) => requestsOf(rule, target, recorded) > 0).map((rule) => rule.group));
  const common = target.write ? Math.min(recorded.shared, 3 * own.length) + groups.size * recorded.group : 0;
  return Math.round(own.reduce((sum, one) => sum + one, 0) + common);
}

/** `rate`: requests a second, infinite where there is no limit. */
export function budgetOf(requests: number, rate: number): Budget {
  return Number.isFinite(rate) ? { requests, rate, seconds: Math.ceil(requests / rate) } : { requests };
}
