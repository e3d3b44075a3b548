import type { TokenRecipe } from '../auth/tokens.js';
import type { Evidence } from '../http/exchange.js';
import type { Level, Reach, Section } from '../rules/rule.js';
import type { GitClientChoice } from '../target/git-clients.js';
import type { Nearest } from './nearest.js';
import type { Profile, ProfileResult } from './profiles.js';

/**
 * Verdicts of a rule.
 * - `pass`: the target meets the rule.
 * - `fail`: the target breaks a MUST, or behaves differently than for an earlier request.
 * - `warn`: the target breaks a SHOULD.
 * - `observed`: the specification is silent, and the report records the behaviour.
 * - `variant`: the specification is contradictory, and the target sent a permitted response other than the
 *   best-supported one.
 * - `skip`: the rule cannot be checked on this target.
 * - `blocked`: the target throttled or did not respond, or a fixture of the rule could not be created.
 * - `error`: internal error of the suite.
 * - `flaky`: the rule failed, then passed when it was checked alone.
 */
export const VERDICTS = ['pass', 'fail', 'warn', 'observed', 'variant', 'skip', 'blocked', 'error', 'flaky'] as const;

export type Verdict = (typeof VERDICTS)[number];

/** Request and response as text for a report. Secrets are removed and long bodies are shortened. */
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
  /** Kind of responses on which the verdict is based. Undefined if nothing was checked. */
  readonly evidence?: Evidence;
  /** Reason for the verdict. Undefined for `pass`. */
  readonly reason?: string;
  readonly expected?: unknown;
  readonly actual?: unknown;
  readonly observed?: Readonly<Record<string, unknown>>;
  readonly transcript?: readonly TranscriptEntry[];
  /**
   * Shell command that repeats the deciding request with curl. It contains no secrets. Undefined if the request body is
   * too large.
   */
  readonly curl?: string;
  /** Recipe (description) of the token in the deciding request. */
  readonly recipe?: TokenRecipe;
  /** The most similar request of a rule that passed. Present only for broken rules. */
  readonly nearest?: Nearest;
  /**
   * True for a MUST rule that no mutant (server with a deliberate defect) has made fail. Nothing then shows that the
   * rule can fail.
   */
  readonly unproven?: true;
  readonly milliseconds: number;
  /** Number of requests that the rule itself sent. Requests that created shared fixtures are not counted. */
  readonly requests?: number;
  /**
   * Variants that the rule observed. The keys name unclear points of the specification; the values are the target's
   * responses.
   */
  readonly variants?: Readonly<Record<string, string>>;
  /** Baseline entry (expected failure) of the rule, with its state. Undefined if absent. */
  readonly baseline?: Expectation;
  /** Original verdict, if it was changed because an earlier rule observed another variant of the same behaviour. */
  readonly without_drift?: { readonly verdict: Verdict; readonly reason?: string };
}

/**
 * A failure that the baseline (list of expected failures) expects, and its state.
 * - `expected`: the failure occurred, and does not fail the run.
 * - `expired`: the failure occurred after the last day on which it was expected.
 * - `unexpected`: another failure occurred.
 * - `stale`: the failure no longer occurs, but the baseline still expects it.
 * - `unobserved`: the rule was not checked.
 *
 * All states except `expected` and `unobserved` fail the run.
 */
export interface Expectation {
  readonly state: 'expected' | 'expired' | 'unexpected' | 'stale' | 'unobserved';
  readonly reason: string;
  /** Last day on which the failure is expected, in the form `2027-01-31`. */
  readonly expires: string;
  /** Verdict that the baseline expects. Undefined if any failure is expected. */
  readonly verdict?: Verdict;
}

/** Fixture (prepared state of the target, such as a repository) that could not be created. */
export interface SetupFailure extends Pick<RuleResult, 'expected' | 'actual' | 'transcript' | 'curl' | 'recipe'> {
  readonly name: string;
  /** `fail` if the target refused the creation; `error` for an internal error of the suite. */
  readonly verdict: 'fail' | 'error';
  readonly reason: string;
}

/**
 * Observations of a watching rule, which judges responses to the requests of other rules. The report stores them, so
 * that `mergeReports` can combine the shards of a run.
 */
export interface Watched {
  readonly id: string;
  /** Number of responses that the watching rule judged. */
  readonly answers: number;
  readonly evidence: Evidence;
  readonly broken?: Pick<RuleResult, 'reason' | 'evidence' | 'transcript' | 'curl' | 'recipe'>;
}

/**
 * One of several runs that each check a part of the rules. `index` is the number of this run, from 1; `count` is the
 * number of runs.
 */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

/** Size of a run, estimated before the run begins. */
export interface Budget {
  /** Estimated number of requests of the whole run. */
  readonly requests: number;
  /** Maximum number of requests per second. Undefined if unlimited. */
  readonly rate?: number;
  /** Estimated duration in seconds at the rate limit. Undefined without a rate limit. */
  readonly seconds?: number;
  /** True if the rate limit follows the RateLimit headers of the target during the run. */
  readonly adaptive?: true;
}

/** Result of deleting the repositories that the run created. `made` and `removed` are numbers of repositories. */
export interface Cleanup {
  readonly made: number;
  readonly removed: number;
  /** Names of the repositories that are still on the target. */
  readonly left: readonly string[];
  /** Reason why repositories are still on the target. Undefined if unknown, or if no repositories are left. */
  readonly reason?: string;
  /** True if the user asked to keep the repositories (`--keep`). */
  readonly kept?: true;
}

/**
 * Early end of a run, before all rules were checked. `by` is `target` if the target is unreachable or refuses requests,
 * and `suite` for an internal error of the suite.
 */
export interface Ended {
  readonly by: 'target' | 'suite';
  readonly reason: string;
}

/** Number of checked rules and total number of rules of the run. */
export interface Coverage {
  readonly checked: number;
  readonly total: number;
}

/** Version of the report format. `readReport` refuses reports of another version. */
export const FORMAT = 1;

export interface Report {
  readonly format: typeof FORMAT;
  readonly suite: { readonly name: string; readonly version: string };
  /** Version of the specification from which the rules are derived. */
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
    /**
     * Profiles (parts of the specification) to which the run was restricted. Undefined if the run was not restricted.
     */
    readonly profiles?: readonly Profile[];
    /** Git clients that rules about clones, fetches and pushes used. Undefined if only isomorphic-git was used. */
    readonly git_client?: GitClientChoice;
    /** Minimum number of checked rules. The run fails if fewer rules were checked. Undefined if there is no minimum. */
    readonly min_checked?: number;
    readonly shard?: Shard;
    /** Command-line words that select the same target, for commands that a report prints. They contain no secrets. */
    readonly flags?: readonly string[];
  };
  /**
   * Number of recorded requests, and number of those that could be checked. Present only in reports on recorded traffic
   * (HAR files).
   */
  readonly recording?: { readonly entries: number; readonly checked: number };
  readonly budget?: Budget;
  readonly requests: number;
  /** Total seconds for which the run waited because the target throttled it (status 429). */
  readonly throttled_seconds?: number;
  readonly interrupted: boolean;
  readonly ended?: Ended;
  /**
   * Notices about a likely cause of many failures, for example a target that sends the same response to all requests.
   */
  readonly notices?: readonly string[];
  readonly setup?: readonly SetupFailure[];
  readonly cleanup?: Cleanup;
  /**
   * Present only if the report was compared with a baseline (list of expected failures). `elsewhere` has the baseline
   * entries for rules that the report does not contain.
   */
  readonly baseline?: { readonly elsewhere: readonly (Omit<Expectation, 'state'> & { readonly rule: string })[] };
  readonly counts: Readonly<Record<Verdict, number>>;
  /**
   * Number of checked rules and total number of rules of the run. A rule counts as checked unless its verdict is
   * `skip`, `blocked` or `error`. Undefined in reports of earlier suite versions.
   */
  readonly coverage?: Coverage;
  /**
   * Results of the profiles. A profile is a part of the specification that a deployment can offer without the other
   * parts. It is omitted if some of its rules are not in the report. Undefined in reports of earlier suite versions and
   * of recorded traffic.
   */
  readonly profiles?: readonly ProfileResult[];
  /**
   * Variants that the run observed. The keys name unclear points of the specification; the values are the target's
   * responses.
   */
  readonly variants: Readonly<Record<string, string>>;
  readonly rules: readonly RuleResult[];
  readonly watched?: readonly Watched[];
  readonly exit_code: number;
}

/**
 * Returns the exit code of a run.
 * - 0: the target conforms.
 * - 1: rules are broken, or fewer rules were checked than required.
 * - 3: the target is unreachable or refuses requests.
 * - 4: internal error of the suite, or repositories were left on the target.
 * - 130: interrupted.
 */
export function exitCodeOf(
  counts: Readonly<Record<Verdict, number>>,
  options: {
    readonly strict: boolean;
    readonly interrupted: boolean;
    readonly ended?: Ended | undefined;
    readonly setup?: readonly SetupFailure[];
    readonly cleanup?: Cleanup | undefined;
    /** Minimum number of rules that must be checked. Default: no minimum. */
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

/** Returns the number of verdicts based on responses that faults of the emulator made or changed. */
export function injected(results: readonly RuleResult[]): number {
  return results.filter(({ evidence }) => evidence === 'injected').length;
}

/** Returns the number of checked rules. A rule counts as checked unless its verdict is `skip`, `blocked` or `error`. */
export function executed(counts: Readonly<Record<Verdict, number>>): number {
  return counts.pass + counts.fail + counts.warn + counts.observed + counts.variant + counts.flaky;
}

/** Returns the number of checked rules and the total number of rules in `counts`. */
export function coverageOf(counts: Readonly<Record<Verdict, number>>): Coverage {
  return { checked: executed(counts), total: VERDICTS.reduce((sum, verdict) => sum + counts[verdict], 0) };
}

/**
 * Returns the minimum number of checked rules of a run. Returns undefined if there is no minimum. Also returns
 * undefined for a shard, because the minimum applies to the merged report.
 */
export function minCheckedOf({ min_checked, shard }: Report['mode']): number | undefined {
  return shard === undefined ? min_checked : undefined;
}

/**
 * Counts the verdicts for the exit code. An expected failure counts as `observed`. A rule whose baseline entry is
 * outdated, expired or unmet counts as `fail`.
 */
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
