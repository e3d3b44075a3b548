import type { Steps } from '../../schedule/steps.js';
import { isStep, take, type WorkDone } from '../lineage.js';
import { byBegin, type SeenRequest } from '../seen-request.js';
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
  /** The `sub` of its token, as far as it says one. */
  readonly subject?: string;
  readonly detail: string;
}

/** What a rule says of the requests of one client. */
export interface RuleOfClient {
  /** The `sub` of its tokens; null of requests whose token says none. */
  readonly subject: string | null;
  readonly verdict: 'kept' | 'broken';
  readonly occasions: number;
  readonly broken: number;
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
  /** By the subject of the token, the first that gave an occasion. */
  readonly clients: readonly RuleOfClient[];
}

interface Counted {
  occasions: number;
  broken: number;
}

const MAX_FAULTS = 20;
const MAX_CLIENTS = 100;

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
  const running = rules.map((rule) => ({
    rule,
    evaluate: rule.evaluate(),
    occasions: 0,
    faults: [] as ClientFault[],
    clients: new Map<string | null, Counted>(),
  }));
  for (const request of seen.toSorted(byBegin)) {
    for (const each of running) {
      const occasion = each.evaluate(request);
      work.units += RULE;
      if (isStep(work)) yield take(work);
      if (!occasion || !isMeant(request)) continue;
      each.occasions += 1;
      const { earlier, fault } = occasion;
      const subject = request.record.token?.subject;
      const client = clientIn(each.clients, subject ?? null);
      if (client) client.occasions += 1;
      if (fault === undefined) continue;
      if (client) client.broken += 1;
      if (each.faults.length === MAX_FAULTS) continue;
      each.faults.push({
        request: request.record.id,
        ...(earlier && { earlier: earlier.record.id }),
        ...(subject !== undefined && { subject }),
        detail: fault,
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

/** Undefined of clients beyond the most that are told apart. */
function clientIn(clients: Map<string | null, Counted>, subject: string | null): Counted | undefined {
  const known = clients.get(subject);
  if (known !== undefined || clients.size === MAX_CLIENTS) return known;
  const client = { occasions: 0, broken: 0 };
  clients.set(subject, client);
  return client;
}
