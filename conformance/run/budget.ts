import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Budget, Report } from '../report/results.js';
import { allRules } from '../rules/registry.js';
import type { Rule } from '../rules/rule.js';
import { packageRoot } from '../target/package-root.js';
import type { Target } from '../target/target.js';
import { reasonToSkip } from './verdict.js';

/** Estimated number of requests of a rule that is not in the table. */
const UNKNOWN = 4;

/**
 * Number of requests that each rule sent to the emulator, printed by `node dist/conformance/test/record-requests.js`.
 */
export interface RecordedRequests {
  readonly rules: Readonly<Record<string, number>>;
  /** Number of requests by rule in a read-only run. */
  readonly reading: Readonly<Record<string, number>>;
  /** Number of requests for shared fixtures and for cleanup. */
  readonly shared: number;
  /** Number of requests for the repository of each group. */
  readonly group: number;
}

const NOTHING: RecordedRequests = { rules: {}, reading: {}, shared: 0, group: 0 };

export function readRecordedRequests(): RecordedRequests {
  return { ...NOTHING, ...JSON.parse(readFileSync(join(packageRoot(), 'fixtures', 'rule-requests.json'), 'utf8')) };
}

/** Estimates the number of requests that a rule sends to a target; 0 if it is skipped. */
export function requestsOf(rule: Rule, target: Target, recorded: RecordedRequests): number {
  if (rule.check === undefined || reasonToSkip(rule, target) !== undefined) return 0;
  const known = recorded.rules[rule.id];
  if (target.write || known === undefined) return known ?? UNKNOWN;
  return recorded.reading[rule.id] ?? 0;
}

/** Estimates the number of requests of a run of these rules, including cleanup. */
export function estimateRequests(rules: readonly Rule[], target: Target, recorded: RecordedRequests): number {
  const own = rules.map((rule) => requestsOf(rule, target, recorded)).filter((requests) => requests > 0);
  const groups = new Set(rules.filter((rule) => requestsOf(rule, target, recorded) > 0).map((rule) => rule.group));
  const common = target.write ? Math.min(recorded.shared, 3 * own.length) + groups.size * recorded.group : 0;
  return Math.round(own.reduce((sum, one) => sum + one, 0) + common);
}

/** `rate`: requests per second; infinite for no limit. */
export function budgetOf(requests: number, rate: number): Budget {
  return Number.isFinite(rate) ? { requests, rate, seconds: Math.ceil(requests / rate) } : { requests };
}

/** Requests of every group: a repository and its first commit. */
const GROUP = 2;

/** Computes the table from a run of all rules and a read-only run. */
export function recordRequests({ rules, requests, cleanup }: Report, reading: Report): RecordedRequests {
  const counts = countsOf(rules);
  const own = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const groups = new Set(allRules().flatMap(({ id, group }) => (id in counts ? [group] : []))).size;
  const shared = requests + (cleanup?.made ?? 0) - own - groups * GROUP;
  return { rules: counts, reading: countsOf(reading.rules), shared, group: GROUP };
}

function countsOf(rules: Report['rules']): Record<string, number> {
  return Object.fromEntries(rules.flatMap(({ id, requests = 0 }) => (requests === 0 ? [] : [[id, requests]])));
}
