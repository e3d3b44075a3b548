import type { Limiter } from '../http/limiter.js';
import type { BaselineEntry } from '../report/baseline.js';
import type { Budget, RuleResult, Shard } from '../report/results.js';
import { allRules, selectRules } from '../rules/registry.js';
import type { Rule } from '../rules/rule.js';
import { PREFIX, PREFIX_WORDS } from '../target/target-file.js';
import type { Scratch } from './scratch.js';

/**
 * A mistake in what a run was asked for; the message is a sentence.
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

/** The rules that a pattern selects; all of them without one. Throws `EmptySelection` if there are none. */
export function selectSome(only: string | undefined): Rule[] {
  const rules = selectRules(allRules(), only);
  if (rules.length === 0) throw new EmptySelection(`no rule is called ${only}`);
  return rules;
}

/** How far a run is. */
export interface Progress {
  /** Rules that have been tried, of those that there are. */
  readonly done: number;
  readonly total: number;
  /** Requests sent so far. */
  readonly requests: number;
  /** Seconds until the target, which throttles, is asked again; 0 where it does not. */
  readonly waitingSeconds: number;
}

export interface Options {
  /** Rules to run, by pattern of their ids. Default: all. */
  readonly only?: string;
  /** Whether warnings and tolerated variants fail the run. */
  readonly strict?: boolean;
  /** Milliseconds for one answer. Default 15,000. */
  readonly timeout?: number;
  /** Requests a second; `Infinity` for no limit. Default: unlimited on an emulator, 5 on anything else. */
  readonly rate?: number;
  /** Seconds over which the run spreads its requests. */
  readonly window?: number;
  /** Groups of rules that run side by side; no verdict depends on it. Default: 8 on an emulator, otherwise 4. */
  readonly width?: number;
  /** Runs the rules in another order, the same for the same seed; no verdict depends on it. */
  readonly seed?: number;
  /** Checks one part of the rules; `mergeReports` joins the reports of all. */
  readonly shard?: Shard;
  /** The flags that name the same target on a command line, for commands that reports print; no secrets. */
  readonly flags?: readonly string[];
  /** Members of tolerated sets that an earlier run recorded: another one is a failure. */
  readonly pinned?: ReadonlyMap<string, string>;
  /** Failures that are expected: they do not fail the run, and those that are gone do. `readBaseline` reads them. */
  readonly baseline?: readonly BaselineEntry[];
  /** What the names of the repositories begin with that the run makes. Default: `cf`. */
  readonly prefix?: string;
  /** Leaves the repositories that the run makes on the target. Default: they are removed. */
  readonly keep?: boolean;
  /** Interrupts the run: there is a report of what was checked so far, and what was made is removed. */
  readonly signal?: AbortSignal;
  /** Remembers the repositories that the run makes. Default: in memory; `openScratch` writes a journal. */
  readonly scratch?: Scratch;
  /** Told the name of every repository before the target is asked to make it. */
  readonly onRepository?: (name: string) => Promise<void>;
  /** Told how much the run is going to ask, before the first rule. */
  readonly onBudget?: (budget: Budget) => void;
  /** Told the result of every rule, once it is final. */
  readonly onResult?: (result: RuleResult, done: number, total: number) => void;
  /** Told how far the run is, whenever a request goes out or a rule was tried. */
  readonly onProgress?: (progress: Progress) => void;
}

/** What the runner takes beside the options: those that have a default are there. */
export type RunOptions = Options &
  Required<Pick<Options, 'strict' | 'width' | 'timeout' | 'signal' | 'prefix' | 'onRepository' | 'onResult'>> & {
    readonly rules: readonly Rule[];
    /** Rules that are known to notice a mutant; left out where none is known of any. */
    readonly proven?: ReadonlySet<string>;
    readonly limiter: Limiter;
    /** The same for what is removed at the end, also after an interruption. Default: `limiter`. */
    readonly cleanupLimiter?: Limiter;
    readonly now: () => number;
    /** Fixtures of an earlier run against the same repositories. Default: none. */
    readonly fixtures?: Map<string, Promise<unknown>>;
    readonly budget?: Budget;
  };

/** Values that an option may have, and their description for error messages. */
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

/** Throws `InvalidOption`. */
export function checkOptions(options: Options): void {
  for (const [name, { words, includes }] of Object.entries(NUMBERS)) {
    const value = options[name as keyof typeof NUMBERS];
    if (value !== undefined && !includes(value)) {
      throw new InvalidOption(`${name} has to be ${words}, not ${String(value)}`);
    }
  }
  const { shard, prefix } = options;
  if (prefix !== undefined && !PREFIX.test(prefix)) throw new InvalidOption(`prefix ${PREFIX_WORDS}`);
  if (shard === undefined) return;
  const { index, count } = shard;
  if (!wholeNumber(1, Infinity).includes(count) || !wholeNumber(1, count).includes(index)) {
    throw new InvalidOption(`shard has to be from 1/${count} to ${count}/${count}, not ${index}/${count}`);
  }
}

function wholeNumber(least: number, most: number): Allowed {
  return {
    words: `a whole number from ${least} to ${most}`,
    includes: (value) => Number.isInteger(value) && value >= least && value <= most,
  };
}

function aboveZero(most = Infinity): Allowed {
  return {
    words: `a number above 0${most === Infinity ? '' : ` and up to ${most}`}`,
    includes: (value) => typeof value === 'number' && value > 0 && value <= most,
  };
}
