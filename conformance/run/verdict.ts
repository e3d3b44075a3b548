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

/** Verdict of a broken rule, by requirement level. Only a broken MUST is a failure. */
export const BROKEN: Readonly<Record<Level, Verdict>> = {
  MUST: 'fail',
  SHOULD: 'warn',
  MAY: 'warn',
  UNSPECIFIED: 'warn',
};

/**
 * Verdict of a rule that holds, by requirement level. Rules of the levels MAY and UNSPECIFIED only record what the
 * target does.
 */
const GOOD: Readonly<Record<Level, Verdict>> = {
  MUST: 'pass',
  SHOULD: 'pass',
  MAY: 'observed',
  UNSPECIFIED: 'observed',
};

/**
 * Returns the reason why a rule's check cannot run on this target. Returns undefined if it can run. If the check is
 * skipped, the rule's `watch` function may still judge the responses to other rules' requests.
 */
export function reasonToSkip(rule: Rule, target: Target): string | undefined {
  if (rule.check === undefined && rule.watch === undefined) return 'not written yet';
  if (rule.reach === 'emulator' && rule.check !== undefined && target.adminUrl === undefined) {
    return ONLY_ON_EMULATOR;
  }
  if (rule.writes === true && !target.write && rule.check !== undefined) return 'writes to the target: --write';
  return undefined;
}

/**
 * A rule's requests in the form in which a report shows them next to the verdict. All values are serializable as JSON.
 */
type Shown = Pick<RuleResult, 'transcript' | 'curl' | 'recipe'>;

export interface RuleVerdict
  extends Shown,
    Pick<RuleResult, 'verdict' | 'evidence' | 'reason' | 'expected' | 'actual' | 'observed'> {
  /** Exchange (request and response) that decided the verdict. Undefined for a good verdict. */
  readonly decidedBy?: Exchange;
}

/** Returns the members of a rule result that describe the rule and do not depend on the run. */
export function aboutRule({ id, section, says, level, reach }: Rule) {
  return { id, section, says, level, reach };
}

/**
 * Thrown if a rule worked for longer than the run permits. The verdict is `blocked`. A slow target shows neither that
 * the rule holds nor that the suite failed.
 */
export class Overdue extends Error {
  override readonly name = 'Overdue';

  constructor(seconds: number) {
    super(`no verdict within ${seconds} s, because the target is slow; --timeout raises the limit`);
  }
}

/**
 * Returns true if the target or the run prevented a verdict: by throttling, by a fixture that could not be created, by
 * an early end of the run, or because the rule took too long.
 */
function isBlocked(error: unknown): error is Error {
  return [Throttled, NeedsSetUp, RunEnded, Overdue].some((reason) => error instanceof reason);
}

/**
 * Returns an error if a fault made or changed a response of this rule, even if the check ignored the response. Such a
 * response does not show the target's ordinary behaviour. Returns undefined if there was none, or if the rule's reach
 * is `emulator`, because such rules inject faults on purpose.
 */
function injectedInto(rule: Rule, t: RuleContext): InjectedEvidence | undefined {
  const made = rule.reach === 'emulator' ? undefined : t.exchanges.find(({ injected }) => injected);
  return made && new InjectedEvidence(made);
}

/**
 * Returns the verdict of a rule whose check ended without an error. The rule holds, unless the check noted a warning,
 * or a variant other than the one that the specification supports best.
 */
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

/**
 * Returns the verdict of a rule whose check threw an error. Only a failed assertion shows that the target breaks the
 * rule. Other expected errors skip or block the rule. Unexpected errors are errors of the suite.
 */
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

/**
 * Converts the failed creation of a fixture (prepared state of the target, such as a repository) into its entry in the
 * report.
 */
export function describeStep(name: string, { thrown, exchanges }: BrokenStep, target: Target): SetupFailure {
  const shown = showWhole(exchanges, target);
  if (thrown instanceof AssertionFailure) {
    const { what: reason, expected, actual } = thrown;
    return { name, verdict: 'fail', reason, expected, actual: printable(actual), ...shown };
  }
  const reason = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
  return { name, verdict: 'error', reason, ...shown };
}

/**
 * Converts the observations of a watching rule, which judges responses to the requests of other rules, into the form of
 * the report.
 */
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

/**
 * Combines two results of a rule and returns the worse verdict. `own` is the verdict of its own check; undefined if the
 * check did not run. `seen` is what the rule observed in responses to other rules' requests. `seen` cannot break a rule
 * of level MAY; it then only adds its observations.
 */
export function addWatched(level: Level, own: RuleVerdict | undefined, seen: Watched): RuleVerdict {
  if (own !== undefined && (own.verdict === 'fail' || own.verdict === 'error')) return own;
  if (seen.broken !== undefined && level !== 'MAY') return { verdict: BROKEN[level], ...seen.broken };
  if (own !== undefined && own.verdict !== 'skip') return own;
  if (seen.answers === 0) return own ?? { verdict: 'skip', reason: NOTHING_SEEN };
  const { evidence, answers, broken } = seen;
  return { verdict: GOOD[level], evidence, observed: { answers, ...defined({ example: broken?.reason }) } };
}

/** Reason to skip a rule without its own check, if no response of the run concerned the rule. */
export const NOTHING_SEEN = 'no response of this run shows the behaviour';

/**
 * Returns a rule's requests in the form of the report. `decidedBy` is the last exchange, which decided the verdict.
 * Returns an empty object if the rule sent no request.
 */
function show(exchanges: readonly Exchange[], target: Target): Shown & Pick<RuleVerdict, 'decidedBy'> {
  const last = exchanges.at(-1);
  if (last === undefined) return {};
  const seconds = Math.floor(Date.now() / 1000);
  const recipe = last.recipe && withRelativeTimes(last.recipe, seconds);
  const curl = writeCurl(last, target, seconds);
  return { transcript: writeTranscript(exchanges), ...defined({ curl, recipe }), decidedBy: last };
}

/** Returns a rule's requests in the form of the report, with secrets removed. */
export function showWhole(exchanges: readonly Exchange[], target: Target): Shown {
  const { decidedBy: _decidedBy, ...shown } = show(exchanges, target);
  return redactValue(shown);
}

function printable(value: unknown): unknown {
  if (value === undefined) return 'nothing';
  return Buffer.isBuffer(value) ? `${value.length} bytes` : value;
}
