import { endOf } from '../record.js';
import type { SeenRequest } from '../seen-request.js';
import type { ClientRuleId } from './ids.js';

/** Request at which a client could keep or break a rule. @internal */
export interface Occasion {
  readonly request: SeenRequest;
  /** Earlier request that makes this one an occasion, such as the one that it repeats; undefined if none is needed. */
  readonly earlier?: SeenRequest | undefined;
  /** Violation in one sentence; undefined if the request keeps the rule. */
  readonly violation?: string | undefined;
}

/**
 * Function that receives every request of the journal once, in the order in which the requests began. It stores what it
 * needs of earlier requests.
 * @internal
 */
export type Evaluation = (request: SeenRequest) => Occasion | undefined;

/** Rule for clients, evaluated from the requests that they sent. */
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

/** Returns a key for the client that sent a request, from the claims of its token, verified or not. */
export function clientOf({ record: { organization, token } }: SeenRequest): string {
  return `${organization}\0${token?.subject ?? ''}\0${token?.repository ?? ''}`;
}

/**
 * Tolerance in milliseconds, because timers may fire early and a client may read a response before the emulator records
 * its end.
 */
export const TOLERANCE = 10;

/**
 * Returns true if a request that began at `started` (real time) may be a reaction to the response to an earlier
 * request.
 */
export function mayFollow(started: number, { record }: SeenRequest): boolean {
  return started > record.started && started > endOf(record) - TOLERANCE;
}

/**
 * Returns true if the client cannot know the result of the request, because the response did not arrive or its status
 * leaves the result open.
 */
export function isLost({ record: { outcome, status } }: SeenRequest): boolean {
  return outcome === 'cut' || outcome === 'gone' || status === 500 || status === 502 || status === 504;
}
