import type { Latency } from '../http/latency.js';
import type { AdaptivePace, Limiter } from '../http/limiter.js';
import type { BaselineEntry } from '../report/baseline.js';
import { PROFILES, type Profile, profileOf } from '../report/profiles.js';
import type { Budget, RuleResult, Shard } from '../report/results.js';
import { allRules, selectRules } from '../rules/registry.js';
import type { Rule } from '../rules/rule.js';
import { GIT_CLIENTS, type GitClientChoice } from '../target/git-clients.js';
import { PREFIX, PREFIX_WORDS } from '../target/target-file.js';
import type { Scratch } from './scratch.js';

/**
 * Thrown if an option of a run has an invalid value. The message names the option, its valid values and the given
 * value.
 *
 * ```js
 * await assert.rejects(run(target, { rate: -1 }), InvalidOption);
 * ```
 */
export class InvalidOption extends Error {
  override readonly name: string = 'InvalidOption';
}

/**
 * Thrown if the option `only` selects no rule.
 *
 * ```js
 * await assert.rejects(run(target, { only: 'no.such.rule' }), EmptySelection);
 * ```
 */
export class EmptySelection extends InvalidOption {
  override readonly name = 'EmptySelection';
}

/**
 * Returns the rules whose ids match the pattern `only` and that belong to one of the profiles. An undefined argument
 * selects all rules. Throws `EmptySelection` if no rule is left.
 */
export function selectSome(only: string | undefined, profiles?: readonly Profile[]): Rule[] {
  const selected = selectRules(allRules(), only);
  const rules = selected.filter(
    (rule) => profiles === undefined || profiles.includes(profileOf({ ...rule, read_only: !rule.writes })),
  );
  if (rules.length === 0) {
    const wanted = [only, profiles && `the profiles ${profiles.join(', ')}`].filter((one) => one !== undefined);
    throw new EmptySelection(`no rule matches ${wanted.join(' and ')}`);
  }
  return rules;
}

/** Progress of a run, passed to `onProgress`. */
export interface Progress {
  /** Number of rules tried so far, and number of all rules of the run. */
  readonly done: number;
  readonly total: number;
  /** Number of requests sent to the target so far. */
  readonly requests: number;
  /** Seconds until the run sends requests again after throttling (status 429). 0 if it is not throttled. */
  readonly waitingSeconds: number;
}

export interface Options {
  /** Pattern of rule ids that selects the rules to run, such as `grep,tags.*`. Default: all rules. */
  readonly only?: string;
  /**
   * Profiles whose rules are run. A profile is a part of the specification that a deployment can offer without the
   * other parts. Default: all profiles.
   */
  readonly profiles?: readonly Profile[];
  /**
   * Git clients for rules about clones, fetches and pushes. `native` and `both` use `git` on the PATH; if it is absent
   * or older than 2.31, these rules are skipped. Default: `js` (isomorphic-git).
   */
  readonly gitClient?: GitClientChoice;
  /**
   * True if warnings and variants also fail the run. A variant is a permitted response other than the one that an
   * unclear specification supports best. Default: false.
   */
  readonly strict?: boolean;
  /**
   * Minimum number of checked rules; the run fails if there are fewer. A rule counts as checked unless its verdict is
   * `skip`, `blocked` or `error`. Default: no minimum.
   */
  readonly minChecked?: number;
  /** Maximum time to wait for one response, in milliseconds. Default: 15,000. */
  readonly timeout?: number;
  /**
   * Maximum number of requests per second; `Infinity` for no limit. Default on an emulator: no limit. Default on other
   * targets: 80 % of what their RateLimit headers allow, or 5 until a response has such a header.
   */
  readonly rate?: number;
  /**
   * Seconds over which the run spreads its estimated requests. It then sends fewer requests per second than `rate` if
   * possible. Default: no spreading.
   */
  readonly window?: number;
  /**
   * Maximum number of groups of rules that run concurrently. Rules of one group share a repository and run one after
   * the other. No verdict depends on this number. Default: 8 on an emulator, otherwise 4.
   */
  readonly width?: number;
  /**
   * Seed for shuffling the order of the rules. The same seed gives the same order. No verdict depends on it. Default:
   * no shuffling; groups with more rules start first.
   */
  readonly seed?: number;
  /**
   * Shard: the part of the rules that this run checks. `mergeReports` merges the reports of all shards. Default: all
   * rules.
   */
  readonly shard?: Shard;
  /**
   * Command-line words that select the target. Reports print them in commands that repeat a check, so they must not
   * contain secrets.
   */
  readonly flags?: readonly string[];
  /**
   * Variants that an earlier run recorded. The keys name unclear points of the specification; the values are the
   * target's responses. A rule fails if the target now gives another response.
   */
  readonly pinned?: ReadonlyMap<string, string>;
  /**
   * Expected failures, as read by `readBaseline`. An expected failure does not fail the run. An entry whose failure no
   * longer occurs is outdated and fails the run.
   */
  readonly baseline?: readonly BaselineEntry[];
  /** Beginning of the names of repositories that the run creates. A random part follows. Default: `cf`. */
  readonly prefix?: string;
  /** True to keep the repositories that the run creates. Default: false; the run deletes them at its end. */
  readonly keep?: boolean;
  /**
   * Interrupts the run when aborted. The report then contains the verdicts so far. Created repositories are still
   * deleted.
   */
  readonly signal?: AbortSignal;
  /**
   * Record of the repositories that the run creates, from `openScratch`. Default: a record in memory. It is lost if the
   * process ends early.
   */
  readonly scratch?: Scratch;
  /** Called with a repository's name before the run creates the repository. The run waits for the promise. */
  readonly onRepository?: (name: string) => Promise<void>;
  /** Called once before the first rule, with the estimated requests and duration of the run. */
  readonly onBudget?: (budget: Budget) => void;
  /**
   * Called with the result of each rule once it is final. `done`: number of final results. `total`: number of all rules
   * of the run.
   */
  readonly onResult?: (result: RuleResult, done: number, total: number) => void;
  /** Called whenever a request is sent, a rule was tried, or throttling by the target pauses the run. */
  readonly onProgress?: (progress: Progress) => void;
}

/** Options of `runRules`, with all defaults applied. */
export type RunOptions = Options &
  Required<Pick<Options, 'strict' | 'width' | 'timeout' | 'signal' | 'prefix' | 'onRepository' | 'onResult'>> & {
    readonly rules: readonly Rule[];
    /**
     * Ids of rules that can fail, because they failed on at least one mutant (emulator with a deliberate defect). A
     * MUST rule that is not in the set is marked as unproven. Undefined if the package has no table of mutants.
     */
    readonly proven?: ReadonlySet<string>;
    readonly limiter: Limiter;
    /** Latency of the target, measured before the run. Default: latency of a fast target. */
    readonly latency?: Latency;
    /** Pace of `limiter`, if it follows the target's RateLimit headers. Undefined if the pace is fixed. */
    readonly adaptive?: AdaptivePace;
    /**
     * Rate limiter for the cleanup. It must also work after an interruption of the run, because created repositories
     * are deleted then. Default: `limiter`.
     */
    readonly cleanupLimiter?: Limiter;
    readonly now: () => number;
    /**
     * Fixtures of an earlier run on the same target, by name. A fixture is prepared state of the target, such as a
     * repository. They are reused instead of being created again. Default: none.
     */
    readonly fixtures?: Map<string, Promise<unknown>>;
    readonly budget?: Budget;
  };

/** Valid values of a numeric option. `words` describes them in error messages. */
interface Allowed {
  readonly words: string;
  readonly includes: (value: number) => boolean;
}

/**
 * Maximum delay of a Node.js timer in milliseconds, about 24 days. A timer with a longer delay would expire at once.
 */
const LONGEST = 2 ** 31 - 1;

const NUMBERS = {
  minChecked: wholeNumber(1, 1_000_000),
  timeout: wholeNumber(1, LONGEST),
  rate: aboveZero(),
  window: aboveZero(7 * 86_400),
  width: wholeNumber(1, 64),
  seed: wholeNumber(0, 2 ** 32 - 1),
};

/** Checks the options before a run sends any request. Throws `InvalidOption` at the first invalid value. */
export function checkOptions(options: Options): void {
  for (const [name, { words, includes }] of Object.entries(NUMBERS)) {
    const value = options[name as keyof typeof NUMBERS];
    if (value !== undefined && !includes(value)) {
      throw new InvalidOption(`${name} must be ${words}, not ${String(value)}`);
    }
  }
  const { shard, prefix, profiles = [], gitClient = 'js' } = options;
  if (!GIT_CLIENTS.includes(gitClient))
    throw new InvalidOption(`gitClient is ${GIT_CLIENTS.join(', ')}, not ${String(gitClient)}`);
  const unknown = profiles.find((name) => !PROFILES.includes(name));
  if (unknown !== undefined) throw new InvalidOption(`profiles are ${PROFILES.join(', ')}, not ${String(unknown)}`);
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
