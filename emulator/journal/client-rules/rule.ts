import { endOf } from '../record.js';
import type { SeenRequest } from '../seen-request.js';
import type { ClientRuleId } from './ids.js';

/** Request with which a client could either keep or break a rule. @internal */
export interface Occasion {
  readonly request: SeenRequest;
  /**
   * Earlier request to which the rule compares this one, such as the request that it repeats. Undefined if the rule
   * needs none.
   */
  readonly earlier?: SeenRequest | undefined;
  /** Description of the violation in one sentence. Undefined if the request keeps the rule. */
  readonly violation?: string | undefined;
}

/**
 * Evaluation of one client rule. The function must be called with every request of a journal, in the order in which
 * they began, because it remembers facts about earlier requests. Returns an occasion if the client could keep or break
 * the rule with this request; undefined otherwise. @internal
 */
export type Evaluation = (request: SeenRequest) => Occasion | undefined;

/** Rule for the behaviour of clients, for example on retries. It is evaluated from the requests that they send. */
export interface ClientRule {
  readonly id: ClientRuleId;
  readonly title: string;
  /** Source of the rule: a rule id or section of the specification, or a section of an RFC. */
  readonly source: string;
  readonly level: 'must' | 'should';
  /**
   * Starts an evaluation, which must receive the requests of a journal from the beginning. The cost per request does
   * not depend on the number of earlier requests.
   */
  evaluate(): Evaluation;
}

/**
 * Returns a key that identifies the client of a request. It consists of the organization and the token's claims,
 * verified or not.
 */
export function clientOf({ record: { organization, token } }: SeenRequest): string {
  return `${organization}\0${token?.subject ?? ''}\0${token?.repository ?? ''}`;
}

/**
 * Tolerance in milliseconds when the times of a client and of the emulator are compared. Timers may fire early, and a
 * client may read a response before the emulator records its end.
 */
export const TOLERANCE = 10;

/**
 * Returns true if a request can be the client's reaction to the response of an earlier request. `started` is the start
 * of the later request, in milliseconds of real time.
 */
export function mayFollow(started: number, { record }: SeenRequest): boolean {
  return started > record.started && started > endOf(record) - TOLERANCE;
}

/**
 * Returns true if the client cannot know if the request had an effect: its response did not arrive, or has a status
 * such as 500.
 */
export function isLost({ record: { outcome, status } }: SeenRequest): boolean {
  return outcome === 'cut' || outcome === 'gone' || status === 500 || status === 502 || status === 504;
}
