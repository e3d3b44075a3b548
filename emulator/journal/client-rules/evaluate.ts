import type { Steps } from '../../schedule/steps.js';
import { shouldYield, takeUnits, type WorkDone } from '../retry-index.js';
import { byBegin, type SeenRequest } from '../seen-request.js';
import { CONTENT_RULES } from './contents.js';
import type { ClientRuleId } from './ids.js';
import { RETRY_RULES } from './retries.js';
import type { ClientRule } from './rule.js';
import { TOKEN_RULES } from './tokens.js';

/** @internal */
export const CLIENT_RULES: readonly ClientRule[] = [...RETRY_RULES, ...CONTENT_RULES, ...TOKEN_RULES];

/** Request with which a client breaks a rule for clients, such as a rule on retries. */
export interface RuleViolation {
  /** Id of the request. */
  readonly request: string;
  readonly earlier?: string;
  /** Claim `sub` of the request's token, verified or not; undefined if absent. */
  readonly subject?: string;
  readonly detail: string;
}

/** Result of one rule for one client. Clients are distinguished by their tokens. */
export interface RuleOfClient {
  /** Claim `sub` of the client's tokens; null for requests without this claim. */
  readonly subject: string | null;
  readonly verdict: 'kept' | 'broken';
  readonly occasions: number;
  readonly broken: number;
}

/** Result of one rule for the requests of all clients. */
export interface ClientVerdict {
  readonly rule: ClientRuleId;
  readonly title: string;
  readonly source: string;
  readonly level: 'must' | 'should';
  /** Result of the rule. `unseen` means that no request gave the client an opportunity to keep or break the rule. */
  readonly verdict: 'kept' | 'broken' | 'unseen';
  readonly occasions: number;
  /** The first requests that break the rule, at most 20. */
  readonly faults: readonly RuleViolation[];
  /** Results per client, by the `sub` claim of its tokens. Contains the first 100 clients to which the rule applied. */
  readonly clients: readonly RuleOfClient[];
}

interface OccasionCounts {
  occasions: number;
  broken: number;
}

const MAX_VIOLATIONS = 20;
const MAX_CLIENTS = 100;

/** Cost of checking one request against one rule, in units of CPU work. Applies to rules that do not read bodies. */
const RULE_COST = 1 / 4;

/**
 * Evaluates requests of the journal by client rules: all of them (`true`), or those that are named. Requests for which
 * `isSelected` returns false are not judged, but the rules still remember facts from them, such as the cursors in their
 * responses.
 *
 * @internal
 */
export function* clientSteps(
  seen: readonly SeenRequest[],
  wanted: true | readonly ClientRuleId[],
  isSelected: (request: SeenRequest) => boolean,
  work: WorkDone,
): Steps<ClientVerdict[]> {
  const rules = wanted === true ? CLIENT_RULES : CLIENT_RULES.filter(({ id }) => wanted.includes(id));
  const running = rules.map((rule) => ({
    rule,
    evaluate: rule.evaluate(),
    occasions: 0,
    faults: [] as RuleViolation[],
    clients: new Map<string | null, OccasionCounts>(),
  }));
  for (const request of seen.toSorted(byBegin)) {
    for (const each of running) {
      const occasion = each.evaluate(request);
      work.units += RULE_COST;
      if (shouldYield(work)) yield takeUnits(work);
      if (!occasion || !isSelected(request)) continue;
      each.occasions += 1;
      const { earlier, violation } = occasion;
      const subject = request.record.token?.subject;
      const client = countsOf(each.clients, subject ?? null);
      if (client) client.occasions += 1;
      if (violation === undefined) continue;
      if (client) client.broken += 1;
      if (each.faults.length === MAX_VIOLATIONS) continue;
      each.faults.push({
        request: request.record.id,
        ...(earlier && { earlier: earlier.record.id }),
        ...(subject !== undefined && { subject }),
        detail: violation,
      });
    }
  }
  return running.map(({ rule: { id, title, source, level }, occasions, faults, clients }) => {
    const verdict = faults.length > 0 ? 'broken' : occasions > 0 ? 'kept' : 'unseen';
    const verdicts = Array.from(clients, ([subject, of]): RuleOfClient => {
      return { subject, verdict: of.broken > 0 ? 'broken' : 'kept', ...of };
    });
    return { rule: id, title, source, level, verdict, occasions, faults, clients: verdicts };
  });
}

/**
 * Returns the counts of the client with this `sub` claim, and creates them for a new client. Returns undefined for a
 * new client if there are already `MAX_CLIENTS` clients.
 */
function countsOf(clients: Map<string | null, OccasionCounts>, subject: string | null): OccasionCounts | undefined {
  const known = clients.get(subject);
  if (known !== undefined || clients.size === MAX_CLIENTS) return known;
  const client = { occasions: 0, broken: 0 };
  clients.set(subject, client);
  return client;
}
