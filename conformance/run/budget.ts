import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Budget, Report } from '../report/results.js';
import { allRules } from '../rules/registry.js';
import type { Rule } from '../rules/rule.js';
import { packageRoot } from '../target/package-root.js';
import type { Target } from '../target/target.js';
import { reasonToSkip } from './verdict.js';

/** Estimated number of requests of a rule whose number was never recorded (not in `fixtures/rule-requests.json`). */
const UNKNOWN = 4;

/**
 * Numbers of requests that the conformance rules sent to the emulator in a recorded run, as stored in
 * `fixtures/rule-requests.json`. A later run reads them to estimate its own size. To record them again, run
 * `node dist/conformance/test/record-requests.js`.
 */
export interface RecordedRequests {
  readonly rules: Readonly<Record<string, number>>;
  /** Number of requests of each rule, by rule id, in a run that may not write to the target. */
  readonly reading: Readonly<Record<string, number>>;
  /**
   * Number of requests in the whole run for fixtures that several groups of rules share, and for the deletion of the
   * created repositories.
   */
  readonly shared: number;
  /** Number of requests to create the repository that the rules of one group share. */
  readonly group: number;
}

const NOTHING: RecordedRequests = { rules: {}, reading: {}, shared: 0, group: 0 };

export function readRecordedRequests(): RecordedRequests {
  return { ...NOTHING, ...JSON.parse(readFileSync(join(packageRoot(), 'fixtures', 'rule-requests.json'), 'utf8')) };
}

/**
 * Estimates the number of requests that a rule sends to a target (the service under test). Returns 0 if the rule is
 * skipped on this target or has no check of its own.
 */
export function requestsOf(rule: Rule, target: Target, recorded: RecordedRequests): number {
  if (rule.check === undefined || reasonToSkip(rule, target) !== undefined) return 0;
  const known = recorded.rules[rule.id];
  if (target.write || known === undefined) return known ?? UNKNOWN;
  return recorded.reading[rule.id] ?? 0;
}

/**
 * Estimates the number of requests of a run of these rules. The estimate includes the creation of shared repositories
 * and their deletion after the run.
 */
export function estimateRequests(rules: readonly Rule[], target: Target, recorded: RecordedRequests): number {
  const own = rules.map((rule) => requestsOf(rule, target, recorded)).filter((requests) => requests > 0);
  const groups = new Set(rules.filter((rule) => requestsOf(rule, target, recorded) > 0).map((rule) => rule.group));
  const common = target.write ? Math.min(recorded.shared, 3 * own.length) + groups.size * recorded.group : 0;
  return Math.round(own.reduce((sum, one) => sum + one, 0) + common);
}

/**
 * Returns the size of a run as shown to the user before the run starts. `rate`: requests per second; infinite for no
 * limit. `seconds` is the minimum duration at that rate.
 */
export function budgetOf(requests: number, rate: number): Budget {
  return Number.isFinite(rate) ? { requests, rate, seconds: Math.ceil(requests / rate) } : { requests };
}

/**
 * Number of requests that create the repository of a group of rules: one for the repository, and one for its first
 * commit.
 */
const GROUP = 2;

/**
 * Computes the recorded numbers of requests from two reports: one of a run of all rules that may write, and one of a
 * read-only run (`reading`).
 */
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
