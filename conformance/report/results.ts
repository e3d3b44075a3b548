import type { TokenRecipe } from '../auth/tokens.js';
import type { Evidence } from '../http/exchange.js';
import type { Level, Reach, Section } from '../rules/rule.js';
import type { GitClientChoice } from '../target/git-clients.js';
import type { Nearest } from './nearest.js';
import type { Profile, ProfileResult } from './profiles.js';

/**
 * Verdicts of a rule.
 * - `pass`: the rule holds.
 * - `fail`: a MUST is broken, or the target contradicted itself.
 * - `warn`: a SHOULD is broken.
 * - `observed`: the specification is silent, and the behaviour is noted.
 * - `variant`: another of the responses that a contradictory text supports.
 * - `skip`: the rule cannot be checked on this target.
 * - `blocked`: the target throttled or was gone, or a fixture of the rule could not be created.
 * - `error`: internal error of the suite.
 * - `flaky`: the rule failed, then passed when checked alone.
 */
export const VERDICTS = ['pass', 'fail', 'warn', 'observed', 'variant', 'skip', 'blocked', 'error', 'flaky'] as const;

export type Verdict = (typeof VERDICTS)[number];

/** Exchange as shown in a report, without secrets and with long bodies shortened. */
export interface TranscriptEntry {
  readonly request: string;
  readonly response: string;
}

export interface RuleResult {
  readonly id: string;
  readonly section: Section;
  readonly says: string;
  readonly level: Level;
  readonly reach: Reach;
  readonly read_only: boolean;
  readonly verdict: Verdict;
  /** Basis of the verdict; undefined if nothing was checked. */
  readonly evidence?: Evidence;
  /** Reason, for every verdict except `pass`. */
  readonly reason?: string;
  readonly expected?: unknown;
  readonly actual?: unknown;
  readonly observed?: Readonly<Record<string, unknown>>;
  readonly transcript?: readonly TranscriptEntry[];
  /** Command that repeats the deciding request, without secrets; undefined if the body is too large. */
  readonly curl?: string;
  /** Recipe of the token in the deciding request. */
  readonly recipe?: TokenRecipe;
  /** Most similar request of a passed rule; only for broken rules. */
  readonly nearest?: Nearest;
  /** True if a MUST rule has never been seen to fail: it is not known to notice any mutant. */
  readonly unproven?: true;
  readonly milliseconds: number;
  /** Number of requests of the rule itself, without those of shared fixtures. */
  readonly requests?: number;
  /** Observed members of tolerated sets, by key. */
  readonly variants?: Readonly<Record<string, string>>;
  /** Baseline of the rule. */
  readonly baseline?: Expectation;
  /** Verdict that the rule would have if no earlier rule had observed another member of a tolerated set. */
  readonly without_drift?: { readonly verdict: Verdict; readonly reason?: string };
}

/**
 * Failure that a baseline expects, and its state.
 * - `expected`: the failure occurred, and does not fail the run.
 * - `expired`: the failure occurred after the last day on which it was expected.
 * - `unexpected`: another failure occurred.
 * - `stale`: the failure is gone, and the baseline still expects it.
 * - `unobserved`: the rule was not checked.
 *
 * All states except `expected` and `unobserved` fail the run.
 */
export interface Expectation {
  readonly state: 'expected' | 'expired' | 'unexpected' | 'stale' | 'unobserved';
  readonly reason: string;
  /** Last day on which the failure is expected, such as `2027-01-31`. */
  readonly expires: string;
  /** Expected verdict; undefined for any failure. */
  readonly verdict?: Verdict;
}

/** Fixture that could not be created. */
export interface SetupFailure extends Pick<RuleResult, 'expected' | 'actual' | 'transcript' | 'curl' | 'recipe'> {
  readonly name: string;
  /** `error` for an internal error of the suite. */
  readonly verdict: 'fail' | 'error';
  readonly reason: string;
}

/** Observations of a watching rule while other rules ran, as needed to merge the shards of a run. */
export interface Watched {
  readonly id: string;
  /** Number of responses that the rule applied to. */
  readonly answers: number;
  readonly evidence: Evidence;
  readonly broken?: Pick<RuleResult, 'reason' | 'evidence' | 'transcript' | 'curl' | 'recipe'>;
}

/** One of several runs that divide the rules; `index` begins at 1. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

/** Estimated size of a run, computed before it begins. */
export interface Budget {
  /** Estimated number of requests. */
  readonly requests: number;
  /** Requests per second; undefined if there is no limit. */
  readonly rate?: number;
  /** Estimated duration in seconds at that rate; undefined if there is no rate limit. */
  readonly seconds?: number;
  /** True if the run changes its rate to what the RateLimit headers of the target allow. */
  readonly adaptive?: true;
}

/** Result of removing the repositories that the run created. */
export interface Cleanup {
  readonly made: number;
  readonly removed: number;
  /** Names of the repositories that remain. */
  readonly left: readonly string[];
  /** Reason why they remain. */
  readonly reason?: string;
  /** True if they were left on request (`--keep`). */
  readonly kept?: true;
}

/**
 * Reason why a run ended before all rules were checked: the target is gone or refuses requests, or the suite failed.
 */
export interface Ended {
  readonly by: 'target' | 'suite';
  readonly reason: string;
}

/** Number of checked rules, and number of all rules of the run. */
export interface Coverage {
  readonly checked: number;
  readonly total: number;
}

/** Version of the format. Other versions are refused. */
export const FORMAT = 1;

export interface Report {
  readonly format: typeof FORMAT;
  readonly suite: { readonly name: string; readonly version: string };
  /** Version of the specification the rules were taken from. */
  readonly specification: '1.0.0';
  readonly started_at: string;
  readonly milliseconds: number;
  readonly target: {
    readonly base_url: string;
    readonly git_url: string;
    readonly org: string;
    readonly emulator: boolean;
  };
  readonly mode: {
    readonly write: boolean;
    readonly strict: boolean;
    readonly only?: string;
    /** Profiles (parts of the specification) whose rules were selected; undefined if all rules were. */
    readonly profiles?: readonly Profile[];
    /** Git clients with which rules about clones, fetches and pushes were checked; undefined for isomorphic-git. */
    readonly git_client?: GitClientChoice;
    /** Number of rules that must be checked; the run fails if fewer are checked. Undefined if there is no minimum. */
    readonly min_checked?: number;
    readonly shard?: Shard;
    /** Command-line words that name the same target; they contain no secret. */
    readonly flags?: readonly string[];
  };
  /** For recorded traffic: number of entries, and of those that could be checked. */
  readonly recording?: { readonly entries: number; readonly checked: number };
  readonly budget?: Budget;
  readonly requests: number;
  /** Seconds that the run waited because the target throttled. */
  readonly throttled_seconds?: number;
  readonly interrupted: boolean;
  readonly ended?: Ended;
  /** Notices to read first, for example that all responses are alike. */
  readonly notices?: readonly string[];
  readonly setup?: readonly SetupFailure[];
  readonly cleanup?: Cleanup;
  /**
   * Present if the run was compared with a baseline. `elsewhere`: entries for rules that the report does not contain.
   */
  readonly baseline?: { readonly elsewhere: readonly (Omit<Expectation, 'state'> & { readonly rule: string })[] };
  readonly counts: Readonly<Record<Verdict, number>>;
  /**
   * Number of rules with a verdict other than `skip`, `blocked` and `error`, and number of all rules of the run.
   * Undefined in results of earlier versions of the suite.
   */
  readonly coverage?: Coverage;
  /**
   * Result of each profile (part of the specification that a deployment can offer without the others) whose rules are
   * all in the report. Undefined in results of earlier versions of the suite and of recorded traffic.
   */
  readonly profiles?: readonly ProfileResult[];
  /** Observed member of each tolerated set, by key. */
  readonly variants: Readonly<Record<string, string>>;
  readonly rules: readonly RuleResult[];
  readonly watched?: readonly Watched[];
  readonly exit_code: number;
}

/**
 * Returns the exit code: 0 conformant, 1 rules broken or fewer rules checked than required, 2 usage error, 3 target unreachable or refusing requests, 4
 * internal error of the suite or repositories left on the target, 130 interrupted.
 */
export function exitCodeOf(
  counts: Readonly<Record<Verdict, number>>,
  options: {
    readonly strict: boolean;
    readonly interrupted: boolean;
    readonly ended?: Ended | undefined;
    readonly setup?: readonly SetupFailure[];
    readonly cleanup?: Cleanup | undefined;
    /** Number of rules that must be checked. Default: no minimum. */
    readonly minChecked?: number | undefined;
  },
): number {
  const { strict, interrupted, ended, setup = [], cleanup, minChecked = 0 } = options;
  if (interrupted) return 130;
  if (ended) return ended.by === 'target' ? 3 : 4;
  if (counts.fail + counts.flaky > 0 || setup.some(({ verdict }) => verdict === 'fail')) return 1;
  if (counts.error + setup.length > 0) return 4;
  if (cleanup !== undefined && cleanup.left.length > 0 && cleanup.kept !== true) return 4;
  if (strict && counts.warn + counts.variant > 0) return 1;
  if (executed(counts) < minChecked) return 1;
  if (counts.blocked > 0) return 3;
  return executed(counts) === 0 ? 2 : 0;
}

/** Number of verdicts that rest on responses made by faults of the emulator. */
export function injected(results: readonly RuleResult[]): number {
  return results.filter(({ evidence }) => evidence === 'injected').length;
}

/** Number of rules that were checked by behaviour of the target. */
export function executed(counts: Readonly<Record<Verdict, number>>): number {
  return counts.pass + counts.fail + counts.warn + counts.observed + counts.variant + counts.flaky;
}

/** Number of checked rules, and number of all rules with these verdicts. */
export function coverageOf(counts: Readonly<Record<Verdict, number>>): Coverage {
  return { checked: executed(counts), total: VERDICTS.reduce((sum, verdict) => sum + counts[verdict], 0) };
}

/** Minimum number of checked rules of a run. Undefined for a shard, because the minimum applies to the merged result. */
export function minCheckedOf({ min_checked, shard }: Report['mode']): number | undefined {
  return shard === undefined ? min_checked : undefined;
}

/** Counts that decide the exit code. An expected failure does not count as a failure; a stale or expired entry does. */
export function countDeciding(results: readonly RuleResult[]): Record<Verdict, number> {
  const deciding = results.map((result): RuleResult => {
    const { state } = result.baseline ?? {};
    if (state === undefined || state === 'unobserved') return result;
    return { ...result, verdict: state === 'expected' ? 'observed' : 'fail' };
  });
  return countVerdicts(deciding);
}

export function countVerdicts(results: readonly RuleResult[]): Record<Verdict, number> {
  const counts = Object.fromEntries(VERDICTS.map((verdict) => [verdict, 0])) as Record<Verdict, number>;
  for (const { verdict } of results) counts[verdict] += 1;
  return counts;
}
