import type { Limiter } from '../http/limiter.js';
import type { BaselineEntry } from '../report/baseline.js';
import type { Budget, RuleResult, Shard } from '../report/results.js';
import { allRules, selectRules } from '../rules/registry.js';
import type { Rule } from '../rules/rule.js';
import { PREFIX, PREFIX_WORDS } from '../target/target-file.js';
import type { Scratch } from './scratch.js';

/**
 * An option of a run is invalid. The message is a sentence.
 *
 * ```js
 * await assert.rejects(run(target, { rate: -1 }), InvalidOption);
 * ```
 */
export class InvalidOption extends Error {
  override readonly name: string = 'InvalidOption';
}

/**
 * No rule matches the pattern.
 *
 * ```js
 * await assert.rejects(run(target, { only: 'no.such.rule' }), EmptySelection);
 * ```
 */
export class EmptySelection extends InvalidOption {
  override readonly name = 'EmptySelection';
}

/** Returns the rules that a pattern selects; all rules if undefined. Throws `EmptySelection` if none match. */
export function selectSome(only: string | undefined): Rule[] {
  const rules = selectRules(allRules(), only);
  if (rules.length === 0) throw new EmptySelection(`no rule matches ${only}`);
  return rules;
}

/** Progress of a run. */
export interface Progress {
  /** Number of rules tried so far, and of all rules. */
  readonly done: number;
  readonly total: number;
  /** Number of requests sent so far. */
  readonly requests: number;
  /** Seconds until requests continue after throttling; 0 if the target does not throttle. */
  readonly waitingSeconds: number;
}

export interface Options {
  /** Rules to run, by pattern of their ids. Default: all. */
  readonly only?: string;
  /** True if warnings and tolerated variants fail the run. */
  readonly strict?: boolean;
  /** Milliseconds for one response. Default 15,000. */
  readonly timeout?: number;
  /** Requests per second; `Infinity` for no limit. Default: unlimited on an emulator, otherwise 5. */
  readonly rate?: number;
  /** Seconds over which the run spreads its requests. */
  readonly window?: number;
  /**
   * Number of groups of rules that run concurrently; no verdict depends on it. Default: 8 on an emulator, otherwise 4.
   */
  readonly width?: number;
  /** Seed of the order of the rules. The same seed gives the same order; no verdict depends on it. */
  readonly seed?: number;
  /** Checks one part of the rules; `mergeReports` merges the reports of all parts. */
  readonly shard?: Shard;
  /** Command-line words that name the target, for the commands in reports; they contain no secret. */
  readonly flags?: readonly string[];
  /** Members of tolerated sets that an earlier run recorded. Another member is a failure. */
  readonly pinned?: ReadonlyMap<string, string>;
  /**
   * Expected failures, as read by `readBaseline`. They do not fail the run; an expected failure that no longer occurs
   * does.
   */
  readonly baseline?: readonly BaselineEntry[];
  /** Prefix of the names of the repositories that the run creates. Default: `cf`. */
  readonly prefix?: string;
  /** Keeps the repositories that the run creates. Default: they are removed. */
  readonly keep?: boolean;
  /** Interrupts the run. The report contains what was checked so far, and created repositories are removed. */
  readonly signal?: AbortSignal;
  /** Record of the repositories that the run creates. Default: in memory; `openScratch` writes a journal. */
  readonly scratch?: Scratch;
  /** Called with the name of a repository before the run creates it. */
  readonly onRepository?: (name: string) => Promise<void>;
  /** Called with the estimated size of the run before the first rule. */
  readonly onBudget?: (budget: Budget) => void;
  /** Called with the result of every rule when it is final. */
  readonly onResult?: (result: RuleResult, done: number, total: number) => void;
  /** Called when a request is sent or a rule was tried. */
  readonly onProgress?: (progress: Progress) => void;
}

/** Options of the runner, with all defaults applied. */
export type RunOptions = Options &
  Required<Pick<Options, 'strict' | 'width' | 'timeout' | 'signal' | 'prefix' | 'onRepository' | 'onResult'>> & {
    readonly rules: readonly Rule[];
    /** Ids of rules that are known to notice a mutant; undefined if the table of mutants is absent. */
    readonly proven?: ReadonlySet<string>;
    readonly limiter: Limiter;
    /** Limiter of the cleanup, which also works after an interruption. Default: `limiter`. */
    readonly cleanupLimiter?: Limiter;
    readonly now: () => number;
    /** Fixtures of an earlier run against the same repositories. Default: none. */
    readonly fixtures?: Map<string, Promise<unknown>>;
    readonly budget?: Budget;
  };

/** Valid values of an option, and their description for error messages. */
interface Allowed {
  readonly words: string;
  readonly includes: (value: number) => boolean;
}

/** Maximum delay of a timer: 24 days in milliseconds. */
const LONGEST = 2 ** 31 - 1;

const NUMBERS = {
  timeout: wholeNumber(1, LONGEST),
  rate: aboveZero(),
  window: aboveZero(7 * 86_400),
  width: wholeNumber(1, 64),
  seed: wholeNumber(0, 2 ** 32 - 1),
};

/** Checks the options. Throws `InvalidOption`. */
export function checkOptions(options: Options): void {
  for (const [name, { words, includes }] of Object.entries(NUMBERS)) {
    const value = options[name as keyof typeof NUMBERS];
    if (value !== undefined && !includes(value)) {
      throw new InvalidOption(`${name} must be ${words}, not ${String(value)}`);
    }
  }
  const { shard, prefix } = options;
  if (prefix !== undefined && !PREFIX.test(prefix)) throw new InvalidOption(`prefix ${PREFIX_WORDS}`);
  if (shard === undefined) return;
  const { index, count } = shard;
  if (!wholeNumber(1, Infinity).includes(count) || !wholeNumber(1, count).includes(index)) {
    throw new InvalidOption(`shard must be from 1/${count} to ${count}/${count}, not ${index}/${count}`);
  }
}

function wholeNumber(min: number, max: number): Allowed {
  return {
    words: `a whole number from ${min} to ${max}`,
    includes: (value) => Number.isInteger(value) && value >= min && value <= max,
  };
}

function aboveZero(max = Infinity): Allowed {
  return {
    words: `a number above 0${max === Infinity ? '' : ` and up to ${max}`}`,
    includes: (value) => typeof value === 'number' && value > 0 && value <= max,
  };
}
