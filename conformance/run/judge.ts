import { AssertionFailure, InjectedEvidence, Skip } from '../check/outcomes.js';
import { ONLY_ON_EMULATOR, type RuleContext } from '../check/rule-context.js';
import { Throttled } from '../http/client.js';
import { type Exchange, evidenceIn } from '../http/exchange.js';
import { withRelativeTimes, writeCurl } from '../report/curl.js';
import type { RuleResult, Verdict } from '../report/results.js';
import { writeTranscript } from '../report/transcript.js';
import type { Level, Rule } from '../rules/rule.js';
import type { Target } from '../target/target.js';
import type { WatchResult } from './watcher.js';

/** What a broken rule of each level means. */
const BROKEN: Readonly<Record<Level, Verdict>> = { MUST: 'fail', SHOULD: 'warn', MAY: 'warn', UNSPECIFIED: 'warn' };

/** Why a rule is not even tried here; undefined when it is. Without leave to try it, a rule can still watch. */
export function reasonToSkip(rule: Rule, target: Target): string | undefined {
  if (rule.check === undefined && rule.watch === undefined) return 'not written yet';
  if (rule.reach === 'emulator' && rule.check !== undefined && target.adminUrl === undefined) {
    return ONLY_ON_EMULATOR;
  }
  if (rule.writes && !target.write && rule.check !== undefined) return 'writes to the target: --write';
  return undefined;
}

export type RuleVerdict = Omit<
  RuleResult,
  'id' | 'section' | 'says' | 'level' | 'reach' | 'read_only' | 'milliseconds' | 'nearest' | 'unproven'
> & {
  /** The exchange that decided it, where it is not a good verdict. */
  readonly decidedBy?: Exchange;
};

/** A rule that holds everywhere never rests on what a fault made, whatever its check made of it. */
function injectedInto(rule: Rule, t: RuleContext): InjectedEvidence | undefined {
  const made = rule.reach === 'emulator' ? undefined : t.exchanges.find(({ injected }) => injected);
  return made && new InjectedEvidence(made);
}

/** The verdict of a rule whose check ended without an error. */
export function judgeReturned(rule: Rule, t: RuleContext): RuleVerdict {
  const injected = injectedInto(rule, t);
  if (injected) return judgeThrown(rule, t, injected);
  const observed = {
    evidence: evidenceIn(t.exchanges),
    ...(Object.keys(t.observations).length === 0 ? {} : { observed: t.observations }),
  };
  if (t.warnings.length > 0) return { verdict: 'warn', reason: t.warnings.join('; '), ...observed };
  if (t.otherVariants.length > 0) return { verdict: 'variant', reason: t.otherVariants.join('; '), ...observed };
  const open = rule.level === 'UNSPECIFIED' || rule.level === 'MAY';
  return { verdict: open ? 'observed' : 'pass', ...observed };
}

/** The verdict of a rule whose check threw. */
export function judgeThrown(rule: Rule, t: RuleContext, thrown: unknown): RuleVerdict {
  const error = injectedInto(rule, t) ?? thrown;
  if (error instanceof Skip) return { verdict: 'skip', reason: error.message };
  if (error instanceof Throttled) return { verdict: 'blocked', reason: error.message };
  const shown = show(t.exchanges, t.target);
  if (error instanceof AssertionFailure) {
    const verdict = BROKEN[rule.level];
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

/** Adds what was seen while other rules ran. The worse verdict wins. */
export function judgeWatched(rule: Rule, own: RuleVerdict | undefined, seen: WatchResult, target: Target): RuleVerdict {
  if (own !== undefined && (own.verdict === 'fail' || own.verdict === 'error')) return own;
  if (seen.broken !== undefined) {
    const { why, exchange } = seen.broken;
    return {
      verdict: BROKEN[rule.level],
      reason: `${why} (seen in ${exchange.rule})`,
      evidence: evidenceIn([exchange]),
      ...show([exchange], target),
    };
  }
  if (own !== undefined && own.verdict !== 'skip') return own;
  if (seen.judged === 0) return own ?? { verdict: 'skip', reason: 'no answer of this run says anything about it' };
  const open = rule.level === 'UNSPECIFIED' || rule.level === 'MAY';
  const { evidence, judged: answers } = seen;
  return { verdict: open ? 'observed' : 'pass', evidence, observed: { answers } };
}

function show(
  exchanges: readonly Exchange[],
  target: Target,
): Pick<RuleVerdict, 'transcript' | 'curl' | 'recipe' | 'decidedBy'> {
  const last = exchanges.at(-1);
  if (last === undefined) return {};
  const { recipe } = last;
  const curl = writeCurl(last, target, Math.floor(Date.now() / 1000));
  return {
    transcript: writeTranscript(exchanges),
    ...(curl === undefined ? {} : { curl }),
    ...(recipe === undefined ? {} : { recipe: withRelativeTimes(recipe, Math.floor(Date.now() / 1000)) }),
    decidedBy: last,
  };
}

function printable(value: unknown): unknown {
  if (value === undefined) return 'nothing';
  return Buffer.isBuffer(value) ? `${value.length} bytes` : value;
}
