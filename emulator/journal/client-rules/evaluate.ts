import type { SeenRequest } from '../seen-request.js';
import { CONTENT_RULES } from './contents.js';
import type { ClientRuleId } from './ids.js';
import { RETRY_RULES } from './retries.js';
import type { ClientRule } from './rule.js';
import { TOKEN_RULES } from './tokens.js';

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
  readonly level: ClientRule['level'];
  /** `unseen`: there was no occasion to keep it or to break it. */
  readonly verdict: 'kept' | 'broken' | 'unseen';
  readonly occasions: number;
  /** The first of those that break it. */
  readonly faults: readonly ClientFault[];
}

const MOST_FAULTS = 20;

/** Evaluates requests by all rules, or by those that are named. */
export function evaluateClient(seen: readonly SeenRequest[], wanted: true | readonly ClientRuleId[]): ClientVerdict[] {
  const rules = wanted === true ? CLIENT_RULES : CLIENT_RULES.filter(({ id }) => wanted.includes(id));
  return rules.map(({ id, title, source, level, evaluate }) => {
    let occasions = 0;
    const faults: ClientFault[] = [];
    for (const { request, earlier, fault } of evaluate(seen)) {
      occasions += 1;
      if (fault === undefined || faults.length === MOST_FAULTS) continue;
      faults.push({ request: request.record.id, ...(earlier && { earlier: earlier.record.id }), detail: fault });
    }
    const verdict = faults.length > 0 ? 'broken' : occasions > 0 ? 'kept' : 'unseen';
    return { rule: id, title, source, level, verdict, occasions, faults };
  });
}
