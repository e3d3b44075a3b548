import { endOf } from '../record.js';
import type { SeenRequest } from '../seen-request.js';
import type { ClientRuleId } from './ids.js';

/** Request that gives its client an opportunity to keep or break a rule. @internal */
export interface Occasion {
  readonly request: SeenRequest;
  /**
   * Earlier request that makes the rule applicable, such as the request that is repeated. Undefined if the rule needs
   * none.
   */
  readonly earlier?: SeenRequest | undefined;
  /** Description of the violation in one sentence; undefined if the request keeps the rule. */
  readonly violation?: string | undefined;
}

/**
 * Evaluates one client rule. It is called once for each request of the journal, in the order in which the requests
 * began, and keeps the facts that it needs about earlier requests. Returns an occasion if the client could keep or
 * break the rule with this request. @internal
 */
export type Evaluation = (request: SeenRequest) => Occasion | undefined;

/** Rule for clients, such as a rule on retries. It is evaluated from the requests that clients have sent. */
export interface ClientRule {
  readonly id: ClientRuleId;
  readonly title: string;
  /** Source of the rule: a rule id or section of the specification, or a section of an RFC. */
  readonly source: string;
  readonly level: 'must' | 'should';
  /**
   * Starts a new evaluation, which must receive all requests of a journal in order. The cost per request does not
   * depend on the number of earlier requests.
   */
  evaluate(): Evaluation;
}

/** Returns a key that identifies the client of a request. It consists of claims of the token, verified or not. */
export function clientOf({ record: { organization, token } }: SeenRequest): string {
  return `${organization}\0${token?.subject ?? ''}\0${token?.repository ?? ''}`;
}

/**
 * Tolerance, in milliseconds, for comparing times of a client with times of the emulator. Timers may fire early, and a
 * client may read a response before the emulator records its end.
 */
export const TOLERANCE = 10;

/**
 * Returns true if a request may be a reaction to the response to an earlier request. `started` is when it began, in
 * milliseconds of real time.
 */
export function mayFollow(started: number, { record }: SeenRequest): boolean {
  return started > record.started && started > endOf(record) - TOLERANCE;
}

/**
 * Returns true if the client cannot know whether the request had an effect. Either the response did not arrive
 * completely, or its status leaves this open.
 */
export function isLost({ record: { outcome, status } }: SeenRequest): boolean {
  return outcome === 'cut' || outcome === 'gone' || status === 500 || status === 502 || status === 504;
}
