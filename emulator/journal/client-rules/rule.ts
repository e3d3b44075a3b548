import { endOf } from '../record.js';
import type { SeenRequest } from '../seen-request.js';
import type { ClientRuleId } from './ids.js';

/** Request at which a client could either keep or break a rule. @internal */
export interface Occasion {
  readonly request: SeenRequest;
  /** Earlier request that makes this one an occasion, such as the one that it repeats; undefined if none is needed. */
  readonly earlier?: SeenRequest | undefined;
  /** Violation in one sentence; undefined if the request keeps the rule. */
  readonly violation?: string | undefined;
}

/**
 * Evaluation of one rule for clients over the requests of a journal. The function receives every request once, in the
 * order in which the requests began. If the client could keep or break the rule with the request, it returns this
 * occasion. It remembers what it needs to know about earlier requests. @internal
 */
export type Evaluation = (request: SeenRequest) => Occasion | undefined;

/** Rule for clients, for example on retries. It is evaluated from the requests that clients have sent. */
export interface ClientRule {
  readonly id: ClientRuleId;
  readonly title: string;
  /** Rule id or section of the specification, or section of an RFC, on which the rule is based. */
  readonly source: string;
  readonly level: 'must' | 'should';
  /**
   * Starts an evaluation, which receives the requests of a journal from the beginning. The cost of each request does
   * not depend on the number of earlier requests.
   */
  evaluate(): Evaluation;
}

/**
 * Returns a key that is equal for requests of the same client. It consists of the claims of its token, verified or not.
 */
export function clientOf({ record: { organization, token } }: SeenRequest): string {
  return `${organization}\0${token?.subject ?? ''}\0${token?.repository ?? ''}`;
}

/**
 * Tolerance in milliseconds for comparisons of times of a client with those of the emulator. Timers may fire early, and
 * a client may read a response before the emulator records its end.
 */
export const TOLERANCE = 10;

/**
 * Returns true if the request that began at `started` (real time in milliseconds) may be a reaction of the client to
 * the response to an earlier request.
 */
export function mayFollow(started: number, { record }: SeenRequest): boolean {
  return started > record.started && started > endOf(record) - TOLERANCE;
}

/**
 * Returns true if the client cannot know whether the request had an effect, because the response did not arrive or its
 * status leaves this open.
 */
export function isLost({ record: { outcome, status } }: SeenRequest): boolean {
  return outcome === 'cut' || outcome === 'gone' || status === 500 || status === 502 || status === 504;
}
