import { AssertionFailure, InjectedEvidence, NeedsSetUp, PinnedDrift, Skip } from '../check/outcomes.js';
import { ONLY_ON_EMULATOR, type RuleContext } from '../check/rule-context.js';
import type { BrokenStep } from '../check/run-context.js';
import { type Exchange, evidenceIn } from '../http/exchange.js';
import { lossOf, RunEnded } from '../http/no-response.js';
import { Throttled } from '../http/throttling.js';
import { withRelativeTimes, writeCurl } from '../report/curl.js';
import { redactValue } from '../report/redact.js';
import type { RuleResult, SetupFailure, Verdict, Watched } from '../report/results.js';
import { writeTranscript } from '../report/transcript.js';
import type { Level, Rule } from '../rules/rule.js';
import { defined } from '../target/json.js';
import type { Target } from '../target/target.js';
import type { WatchResult } from './watcher.js';

/** Verdict of a broken rule, by level. */
export const BROKEN: Readonly<Record<Level, Verdict>> = {
  MUST: 'fail',
  SHOULD: 'warn',
  MAY: 'warn',
  UNSPECIFIED: 'warn',
};

/** Verdict of a rule that holds, by level. */
const GOOD: Readonly<Record<Level, Verdict>> = {
  MUST: 'pass',
  SHOULD: 'pass',
  MAY: 'observed',
  UNSPECIFIED: 'observed',
};

/**
 * Returns why a rule is skipped on this target; undefined if it is checked. A rule whose check cannot run here can
 * still watch.
 */
export function reasonToSkip(rule: Rule, target: Target): string | undefined {
  if (rule.check === undefined && rule.watch === undefined) return 'not written yet';
  if (rule.reach === 'emulator' && rule.check !== undefined && target.adminUrl === undefined) {
    return ONLY_ON_EMULATOR;
  }
  if (rule.writes === true && !target.write && rule.check !== undefined) return 'writes to the target: --write';
  return undefined;
}

/** Requests that a report shows beside a verdict; everything in them is serializable. */
type Shown = Pick<RuleResult, 'transcript' | 'curl' | 'recipe'>;

export interface RuleVerdict
  extends Shown,
    Pick<RuleResult, 'verdict' | 'evidence' | 'reason' | 'expected' | 'actual' | 'observed'> {
  /** Exchange that decided the verdict; undefined for a good verdict. */
  readonly decidedBy?: Exchange;
}

/** Description of a rule in reports. */
export function aboutRule({ id, section, says, level, reach }: Rule) {
  return { id, section, says, level, reach };
}

/**
 * A rule took longer than all of its requests may take. Nothing is known about the rule, and the suite did not fail.
 */
export class Overdue extends Error {
  override readonly name = 'Overdue';

  constructor(seconds: number) {
    super(`no verdict within ${seconds} s, because the target is slow; --timeout raises the limit`);
  }
}

/** Returns true if the error prevented a verdict for a reason in the target or the run. */
function isBlocked(error: unknown): error is Error {
  return [Throttled, NeedsSetUp, RunEnded, Overdue].some((reason) => error instanceof reason);
}

/**
 * Returns an error if a rule received a response made by an injected fault, even if its check ignored it; undefined
 * otherwise and for rules of reach `emulator`.
 */
function injectedInto(rule: Rule, t: RuleContext): InjectedEvidence | undefined {
  const made = rule.reach === 'emulator' ? undefined : t.exchanges.find(({ injected }) => injected);
  return made && new InjectedEvidence(made);
}

/** Verdict of a rule whose check returned. */
export function verdictOfReturned(rule: Rule, t: RuleContext): RuleVerdict {
  const injected = injectedInto(rule, t);
  if (injected) return verdictOfThrown(rule, t, injected);
  const seen = {
    evidence: evidenceIn(t.exchanges),
    ...(Object.keys(t.observations).length === 0 ? {} : { observed: t.observations }),
  };
  if (t.warnings.length > 0) return { verdict: 'warn', reason: t.warnings.join('; '), ...seen };
  if (t.otherVariants.length > 0) return { verdict: 'variant', reason: t.otherVariants.join('; '), ...seen };
  return { verdict: GOOD[rule.level], ...seen };
}

/** The verdict of a rule whose check threw. */
export function verdictOfThrown(rule: Rule, t: RuleContext, thrown: unknown): RuleVerdict {
  const error = injectedInto(rule, t) ?? thrown;
  if (error instanceof Skip) return { verdict: 'skip', reason: error.message };
  if (isBlocked(error)) return { verdict: 'blocked', reason: error.message };
  const loss = lossOf(error);
  if (loss !== undefined) return { verdict: 'blocked', reason: `a request of the rule got no response: ${loss.seen}` };
  const shown = show(t.exchanges, t.target);
  if (error instanceof AssertionFailure) {
    const verdict = error instanceof PinnedDrift ? 'fail' : BROKEN[rule.level];
    const evidence = evidenceIn(t.exchanges);
    const { what: reason, expected } = error;
    return { verdict, evidence, reason, expected, actual: printable(error.actual), ...shown };
  }
  return {
    verdict: 'error',
    reason: error instanceof Error ? `${error.name}: ${error.message}` : String(error),
    ...shown,
  };
}

/** Describes a failed fixture for the report. */
export function describeStep(name: string, { thrown, exchanges }: BrokenStep, target: Target): SetupFailure {
  const shown = showWhole(exchanges, target);
  if (thrown instanceof AssertionFailure) {
    const { what: reason, expected, actual } = thrown;
    return { name, verdict: 'fail', reason, expected, actual: printable(actual), ...shown };
  }
  const reason = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
  return { name, verdict: 'error', reason, ...shown };
}

/** Describes the observations of a watching rule for the report. */
export function describeWatch(id: string, { checked, evidence, broken }: WatchResult, target: Target): Watched {
  return { id, answers: checked, evidence, ...(broken && { broken: describeBroken(broken, target) }) };
}

function describeBroken({ why, exchange }: NonNullable<WatchResult['broken']>, target: Target) {
  return {
    reason: `${why} (seen in ${exchange.rule})`,
    evidence: evidenceIn([exchange]),
    ...showWhole([exchange], target),
  };
}

/** Adds what a rule observed while other rules ran. The worse verdict wins. A MAY rule only reports what it observed. */
export function addWatched(level: Level, own: RuleVerdict | undefined, seen: Watched): RuleVerdict {
  if (own !== undefined && (own.verdict === 'fail' || own.verdict === 'error')) return own;
  if (seen.broken !== undefined && level !== 'MAY') return { verdict: BROKEN[level], ...seen.broken };
  if (own !== undefined && own.verdict !== 'skip') return own;
  if (seen.answers === 0) return own ?? { verdict: 'skip', reason: NOTHING_SEEN };
  const { evidence, answers, broken } = seen;
  return { verdict: GOOD[level], evidence, observed: { answers, ...defined({ example: broken?.reason }) } };
}

/** Reason to skip a rule that only watches, if no response concerned it. */
export const NOTHING_SEEN = 'no response of this run shows the behaviour';

/** Returns the requests of a rule as a report shows them, and the deciding exchange. */
function show(exchanges: readonly Exchange[], target: Target): Shown & Pick<RuleVerdict, 'decidedBy'> {
  const last = exchanges.at(-1);
  if (last === undefined) return {};
  const seconds = Math.floor(Date.now() / 1000);
  const recipe = last.recipe && withRelativeTimes(last.recipe, seconds);
  const curl = writeCurl(last, target, seconds);
  return { transcript: writeTranscript(exchanges), ...defined({ curl, recipe }), decidedBy: last };
}

/** Returns the requests of a rule as a report shows them. */
export function showWhole(exchanges: readonly Exchange[], target: Target): Shown {
  const { decidedBy: _decidedBy, ...shown } = show(exchanges, target);
  return redactValue(shown);
}

function printable(value: unknown): unknown {
  if (value === undefined) return 'nothing';
  return Buffer.isBuffer(value) ? `${value.length} bytes` : value;
}
