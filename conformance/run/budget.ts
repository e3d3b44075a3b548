import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Budget, Shard } from '../report/results.js';
import type { Rule } from '../rules/rule.js';
import { packageRoot } from '../target/package-root.js';
import type { Target } from '../target/target.js';
import { groupsOf, rulesOfShard } from './shards.js';
import { reasonToSkip } from './verdict.js';

/**
 * Estimated number of requests of a rule that is not in `fixtures/rule-requests.json`, so its number was never
 * recorded.
 */
const UNKNOWN = 4;

/** Number of requests that `checkDeletion` sends to a target that can delete repositories. */
const DELETION_CHECK = 5;

/** Parts of a target that some rules need. Each function returns true if the target has the part. */
export const TARGET_PARTS = {
  admin: ({ adminUrl }: Target) => adminUrl !== undefined,
  companion: ({ companion }: Target) => companion,
  deletedKey: ({ deletedKey }: Target) => deletedKey !== undefined,
  otherKeys: ({ otherKeys }: Target) => otherKeys.length > 0,
  repository: ({ repo, write }: Target) => write || repo !== undefined,
  // An emulator counts as having this part, because most rules register a restricted key there themselves.
  restrictedKey: ({ restrictedKey, adminUrl }: Target) => restrictedKey !== undefined || adminUrl !== undefined,
  second: ({ second }: Target) => second !== undefined,
} as const satisfies Readonly<Record<string, (target: Target) => boolean>>;

export type TargetPart = keyof typeof TARGET_PARTS;

/** Recorded request counts of one rule. An omitted count is 0. */
export interface RuleRequests {
  /**
   * Number of requests that the rule sends in a run that may write. Includes creating and deleting repositories that
   * only this rule uses, but not shared fixtures.
   */
  readonly writing?: number;
  /**
   * Number of requests that the rule sends in a read-only run. Such a run reads an existing repository with commits.
   */
  readonly reading?: number;
  /** Names of the shared fixtures (such as prepared repositories) that the rule uses in a run that may write. */
  readonly fixtures?: readonly string[];
  /**
   * Names of the shared lookups (such as one for a file of the existing repository) that the rule uses in a read-only
   * run.
   */
  readonly lookups?: readonly string[];
  /** Parts of a target that the rule needs. Without one of them, the rule is skipped. */
  readonly needs?: readonly TargetPart[];
}

/**
 * Request counts of all conformance rules, recorded on the emulator and stored in `fixtures/rule-requests.json`. A run
 * uses them to estimate its own size. To record them again, run `node dist/conformance/test/record-requests.js`.
 */
export interface RecordedRequests {
  readonly rules: Readonly<Record<string, RuleRequests>>;
  /** Number of requests for each shared fixture and lookup, by name. The number for a fixture includes its deletion. */
  readonly shared: Readonly<Record<string, number>>;
}

export function readRecordedRequests(): RecordedRequests {
  return JSON.parse(readFileSync(join(packageRoot(), 'fixtures', 'rule-requests.json'), 'utf8'));
}

/**
 * Estimates how many requests a rule sends to a target (the service under test), without shared fixtures. Returns 0 if
 * the rule is skipped on this target, or if it has no check of its own.
 */
function requestsOf(rule: Rule, target: Target, { rules }: RecordedRequests): number {
  if (rule.check === undefined || reasonToSkip(rule, target) !== undefined) return 0;
  const known = rules[rule.id];
  if (known === undefined) return UNKNOWN;
  if (known.needs?.some((part) => !TARGET_PARTS[part](target))) return 0;
  return (target.write ? known.writing : known.reading) ?? 0;
}

/**
 * Estimates how many requests a run of these rules sends. Each shared fixture or lookup counts once. Deleting the
 * created repositories is included.
 */
export function estimateRequests(rules: readonly Rule[], target: Target, recorded: RecordedRequests): number {
  const used = new Set<string>();
  let requests = 0;
  for (const rule of rules) {
    const own = requestsOf(rule, target, recorded);
    requests += own;
    if (own === 0) continue;
    const { fixtures = [], lookups = [] } = recorded.rules[rule.id] ?? {};
    for (const name of target.write ? fixtures : lookups) used.add(name);
  }
  for (const name of used) requests += recorded.shared[name] ?? 0;
  return requests;
}

/** Size of a run, before it starts. */
interface Plan {
  readonly rules: readonly Rule[];
  readonly target: Target;
  /** Maximum number of requests per second; `Infinity` for no limit. */
  readonly rate: number;
  /** Seconds over which the run spreads its requests. Undefined if it does not spread them. */
  readonly window?: number | undefined;
  /** Maximum number of groups of rules that run concurrently. */
  readonly width: number;
  /** Measured time from a request to its response, in seconds. */
  readonly latency: number;
  /** True if the run keeps the repositories that it creates. */
  readonly keep: boolean;
}

/**
 * Estimates the number of requests and the duration of a run, to tell the user before the run starts. The rate limits
 * the speed of a run; if few requests are sent concurrently, the latency does.
 */
export function budgetOf({ rules, target, rate, window, width, latency, keep }: Plan): Budget {
  const recorded = readRecordedRequests();
  const checksDeletion = target.write && target.adminUrl === undefined && !keep;
  const before = checksDeletion ? DELETION_CHECK : 0;
  const requests = estimateRequests(rules, target, recorded) + before;
  const pace = window === undefined ? rate : Math.min(rate, Math.max(requests, 1) / window);
  if (!Number.isFinite(pace)) return { requests };
  const inSequence = before + longestSequence(rules, width, (some) => estimateRequests(some, target, recorded));
  return { requests, rate: pace, seconds: Math.ceil(Math.max(requests / pace, inSequence * latency)) };
}

/**
 * Returns the length of the longest sequence of requests: those that are sent one after the other. Rules of a group,
 * and rules marked `alone`, run one after the other; groups run concurrently. Groups are assigned to lanes as in the
 * run: groups with more rules first, each to the first free lane.
 */
function longestSequence(rules: readonly Rule[], width: number, estimate: (rules: readonly Rule[]) => number): number {
  const groups = groupsOf(rules.filter((rule) => rule.alone !== true)).sort((a, b) => b.length - a.length);
  const lanes = new Array<number>(width).fill(0);
  for (const group of groups) {
    const free = lanes.indexOf(Math.min(...lanes));
    lanes[free] = (lanes[free] ?? 0) + estimate(group);
  }
  return Math.max(...lanes) + estimate(rules.filter((rule) => rule.alone === true));
}

/**
 * Returns the rules of one shard. A shard is one of several runs that divide the rules, so that each run sends about
 * the same number of requests. Returns all rules if `shard` is undefined.
 */
export function rulesOfPart(rules: readonly Rule[], shard: Shard | undefined, target: Target): readonly Rule[] {
  if (shard === undefined) return rules;
  const recorded = readRecordedRequests();
  return rulesOfShard(rules, shard, (rule) => requestsOf(rule, target, recorded));
}
