import type { Steps } from '../../git/schedule/steps.js';
import type { SeenRequest } from '../seen-request.js';
import { isStep, take, type WorkDone } from '../work-done.js';
import { CONTENT_RULES } from './contents.js';
import type { ClientRuleId } from './ids.js';
import { RETRY_RULES } from './retries.js';
import type { ClientRule } from './rule.js';
import { TOKEN_RULES } from './tokens.js';

/** @internal */
export const CLIENT_RULES: readonly ClientRule[] = [...RETRY_RULES, ...CONTENT_RULES, ...TOKEN_RULES];

/** A request that breaks a rule. */
export interface ClientFault {
  /** Ids of requests. */
  readonly request: string;
  readonly earlier?: string;
  readonly detail: string;
}

/** What a rule says of all requests. */
export interface ClientVerdict {
  readonly rule: ClientRuleId;
  readonly title: string;
  readonly source: string;
  readonly level: 'must' | 'should';
  /** `unseen`: there was no occasion to keep it or to break it. */
  readonly verdict: 'kept' | 'broken' | 'unseen';
  readonly occasions: number;
  /** The first of those that break it. */
  readonly faults: readonly ClientFault[];
}

const MOST_FAULTS = 20;

/** Units of one rule and one request, beside its bodies. */
const RULE = 1 / 4;

/**
 * Evaluates requests by all rules, or by those that are named. What came before those that are `meant` is remembered, as
 * a cursor that was given: it is checked by nothing.
 * @internal
 */
export function* clientSteps(
  seen: readonly SeenRequest[],
  wanted: true | readonly ClientRuleId[],
  isMeant: (request: SeenRequest) => boolean,
  work: WorkDone,
): Steps<ClientVerdict[]> {
  const rules = wanted === true ? CLIENT_RULES : CLIENT_RULES.filter(({ id }) => wanted.includes(id));
  const running = rules.map((rule) => ({ rule, evaluate: rule.evaluate(), occasions: 0, faults: [] as ClientFault[] }));
  for (const request of seen) {
    for (const each of running) {
      const occasion = each.evaluate(request);
      work.units += RULE;
      if (isStep(work)) yield take(work);
      if (!occasion || !isMeant(request)) continue;
      each.occasions += 1;
      const { earlier, fault } = occasion;
      if (fault === undefined || each.faults.length === MOST_FAULTS) continue;
      each.faults.push({ request: request.record.id, ...(earlier && { earlier: earlier.record.id }), detail: fault });
    }
  }
  return running.map(({ rule: { id, title, source, level }, occasions, faults }) => {
    const verdict = faults.length > 0 ? 'broken' : occasions > 0 ? 'kept' : 'unseen';
    return { rule: id, title, source, level, verdict, occasions, faults };
  });
}
