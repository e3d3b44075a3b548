import type { TokenRecipe } from '../auth/tokens.js';
import type { Evidence } from '../http/exchange.js';
import type { Level, Reach, Section } from '../rules/rule.js';
import type { Nearest } from './nearest.js';

/**
 * pass: the rule holds. fail: a MUST is broken, or the target contradicted itself. warn: a SHOULD is broken.
 * observed: the specification is silent, what was seen is noted. variant: another of the answers that a contradictory
 * text supports. skip: cannot be checked on this target. blocked: the target throttled or was gone, or what the rule
 * rests on could not be made. error: the suite itself broke. flaky: failed, then passed alone.
 */
export const VERDICTS = ['pass', 'fail', 'warn', 'observed', 'variant', 'skip', 'blocked', 'error', 'flaky'] as const;

export type Verdict = (typeof VERDICTS)[number];

/** One exchange as a report shows it: no secrets, long bodies cut. */
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
  /** What the verdict rests on; left out where nothing was checked. */
  readonly evidence?: Evidence;
  /** Why, for every verdict but pass. */
  readonly reason?: string;
  readonly expected?: unknown;
  readonly actual?: unknown;
  readonly observed?: Readonly<Record<string, unknown>>;
  readonly transcript?: readonly TranscriptEntry[];
  /** A command that repeats the deciding request; it holds no secret. Left out where the body is too large for one. */
  readonly curl?: string;
  /** How the token of that request was made. */
  readonly recipe?: TokenRecipe;
  /** The request of a rule that passed which is most like that one; of broken rules only. */
  readonly nearest?: Nearest;
  /** Whether a MUST has never been seen to fail: no mutant is known that it notices. */
  readonly unproven?: true;
  readonly milliseconds: number;
  /** Requests of its own, without those of what it shares with others. */
  readonly requests?: number;
  /** The members that it saw of tolerated sets, by key. */
  readonly variants?: Readonly<Record<string, string>>;
  /** What a baseline says of it. */
  readonly baseline?: Expectation;
  /** What its verdict would be had no rule before it seen another member of a tolerated set. */
  readonly without_drift?: { readonly verdict: Verdict; readonly reason?: string };
}

/**
 * A failure that a baseline expects, and what became of it. expected: it is there, and does not fail the run. expired: it
 * is there, and was expected no longer. unexpected: another failure is there. stale: it is gone, and the baseline still
 * expects it. unobserved: the rule was not checked. All but the first and the last fail the run.
 */
export interface Expectation {
  readonly state: 'expected' | 'expired' | 'unexpected' | 'stale' | 'unobserved';
  readonly reason: string;
  /** The last day on which it is expected: `2027-01-31`. */
  readonly expires: string;
  /** Left out where any will do. */
  readonly verdict?: Verdict;
}

/** Something that rules rest on and that could not be made. */
export interface SetupFailure extends Pick<RuleResult, 'expected' | 'actual' | 'transcript' | 'curl' | 'recipe'> {
  readonly name: string;
  /** `error` where the suite itself broke. */
  readonly verdict: 'fail' | 'error';
  readonly reason: string;
}

/** What a rule that watches saw while other rules ran: what is needed to join the shards of a run. */
export interface Watched {
  readonly id: string;
  /** Answers that it had something to say about. */
  readonly answers: number;
  readonly evidence: Evidence;
  readonly broken?: Pick<RuleResult, 'reason' | 'evidence' | 'transcript' | 'curl' | 'recipe'>;
}

/** One of several runs that share the rules; `index` counts from 1. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

/** How much a run is going to ask, told before it begins. */
export interface Budget {
  /** About so many requests. */
  readonly requests: number;
  /** At so many a second; left out where there is no limit. */
  readonly rate?: number;
  /** And so for at least so many seconds. */
  readonly seconds?: number;
}

/** What became of the repositories that the run made. */
export interface Cleanup {
  readonly made: number;
  readonly removed: number;
  /** Names of those that are still there. */
  readonly left: readonly string[];
  /** Why they are. */
  readonly reason?: string;
  /** True if they were left on request (`--keep`). */
  readonly kept?: true;
}

/** Why a run ended before all rules were checked: the target is gone or refuses to go on, or the suite broke. */
export interface Ended {
  readonly by: 'target' | 'suite';
  readonly reason: string;
}

/** The version of the format; a reader refuses any other. */
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
    readonly shard?: Shard;
    /** The flags that name the same target again, as words; none of them is a secret. */
    readonly flags?: readonly string[];
  };
  /** Of recorded traffic: how many of its entries could be checked. */
  readonly recording?: { readonly entries: number; readonly checked: number };
  readonly budget?: Budget;
  readonly requests: number;
  /** Seconds that the target had the run wait. */
  readonly throttled_seconds?: number;
  readonly interrupted: boolean;
  readonly ended?: Ended;
  /** What a reader should know first: that all answers are alike, for one. */
  readonly notices?: readonly string[];
  readonly setup?: readonly SetupFailure[];
  readonly cleanup?: Cleanup;
  /** There where the run was held to a baseline; what this expects of rules that the report does not have. */
  readonly baseline?: { readonly elsewhere: readonly (Omit<Expectation, 'state'> & { readonly rule: string })[] };
  readonly counts: Readonly<Record<Verdict, number>>;
  /** The member seen of every tolerated set. */
  readonly variants: Readonly<Record<string, string>>;
  readonly rules: readonly RuleResult[];
  readonly watched?: readonly Watched[];
  readonly exit_code: number;
}

/**
 * 0 conformant, 1 rules broken, 2 usage, 3 target unreachable or unwilling, 4 the suite itself failed or left something on
 * the target, 130 interrupted.
 */
export function exitCodeOf(
  counts: Readonly<Record<Verdict, number>>,
  options: {
    readonly strict: boolean;
    readonly interrupted: boolean;
    readonly ended?: Ended | undefined;
    readonly setup?: readonly SetupFailure[];
    readonly cleanup?: Cleanup | undefined;
  },
): number {
  const { strict, interrupted, ended, setup = [], cleanup } = options;
  if (interrupted) return 130;
  if (ended) return ended.by === 'target' ? 3 : 4;
  if (counts.fail + counts.flaky > 0 || setup.some(({ verdict }) => verdict === 'fail')) return 1;
  if (counts.error + setup.length > 0) return 4;
  if (cleanup !== undefined && cleanup.left.length > 0 && cleanup.kept !== true) return 4;
  if (strict && counts.warn + counts.variant > 0) return 1;
  if (counts.blocked > 0) return 3;
  return executed(counts) === 0 ? 2 : 0;
}

/** How many verdicts rest on answers that faults of the emulator made. */
export function injected(results: readonly RuleResult[]): number {
  return results.filter(({ evidence }) => evidence === 'injected').length;
}

/** How many rules were checked by something the target did. */
export function executed(counts: Readonly<Record<Verdict, number>>): number {
  return counts.pass + counts.fail + counts.warn + counts.observed + counts.variant + counts.flaky;
}

/** The counts that decide the exit code: an expected failure is none, and one that is stale or expired is one. */
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
