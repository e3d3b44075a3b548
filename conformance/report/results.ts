import type { TokenRecipe } from '../auth/tokens.js';
import type { Evidence } from '../http/exchange.js';
import type { Level, Reach, Section } from '../rules/rule.js';
import type { Nearest } from './nearest.js';

/**
 * pass: the rule holds. fail: a MUST is broken, or the target contradicted itself. warn: a SHOULD is broken.
 * observed: the specification is silent, what was seen is noted. variant: another of the answers that a contradictory
 * text supports. skip: cannot be judged on this target. blocked: the target throttled. error: the connection or the
 * suite broke. flaky: failed, then passed alone.
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
  /** What the verdict rests on; left out where nothing was judged. */
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
    /** The flags that name the same target again, as words; none of them is a secret. */
    readonly flags?: readonly string[];
  };
  /** Of recorded traffic: how many of its entries could be judged. */
  readonly recording?: { readonly entries: number; readonly judged: number };
  readonly requests: number;
  readonly interrupted: boolean;
  readonly counts: Readonly<Record<Verdict, number>>;
  /** The member seen of every tolerated set. */
  readonly variants: Readonly<Record<string, string>>;
  readonly rules: readonly RuleResult[];
  readonly exit_code: number;
}

/** 0 conformant, 1 rules broken, 2 usage, 3 target unreachable or unwilling, 4 the suite itself, 130 interrupted. */
export function exitCodeOf(
  counts: Readonly<Record<Verdict, number>>,
  options: { readonly strict: boolean; readonly interrupted: boolean },
): number {
  if (options.interrupted) return 130;
  if (counts.fail > 0 || counts.flaky > 0) return 1;
  if (counts.error > 0) return 4;
  if (options.strict && counts.warn + counts.variant > 0) return 1;
  if (counts.blocked > 0) return 3;
  return executed(counts) === 0 ? 2 : 0;
}

/** How many verdicts rest on answers that faults of the emulator made. */
export function injected(results: readonly RuleResult[]): number {
  return results.filter(({ evidence }) => evidence === 'injected').length;
}

/** How many rules were judged by something the target did. */
export function executed(counts: Readonly<Record<Verdict, number>>): number {
  return counts.pass + counts.fail + counts.warn + counts.observed + counts.variant + counts.flaky;
}

export function countVerdicts(results: readonly RuleResult[]): Record<Verdict, number> {
  const counts = Object.fromEntries(VERDICTS.map((verdict) => [verdict, 0])) as Record<Verdict, number>;
  for (const { verdict } of results) counts[verdict] += 1;
  return counts;
}
