import { endOf } from '../record.js';
import type { SeenRequest } from '../seen-request.js';
import type { ClientRuleId } from './ids.js';

/** A request that a rule has something to say of. @internal */
export interface Occasion {
  readonly request: SeenRequest;
  /** The earlier request that makes it an occasion. */
  readonly earlier?: SeenRequest | undefined;
  /** What is wrong with it, in one sentence; undefined where nothing is. */
  readonly fault?: string | undefined;
}

/** Is given every request of the journal once, in the order in which they began, and remembers what it needs of those before. @internal */
export type Evaluation = (request: SeenRequest) => Occasion | undefined;

/** What is asked of clients, evaluated by what they sent. */
export interface ClientRule {
  readonly id: ClientRuleId;
  readonly title: string;
  /** The section of the specification or the RFC that asks it. */
  readonly source: string;
  readonly level: 'must' | 'should';
  /** Begins with a journal of which nothing has been seen. What one request costs is the same wherever it stands. */
  evaluate(): Evaluation;
}

/** Who sent a request, as far as its token says. */
export function clientOf({ record: { organization, token } }: SeenRequest): string {
  return `${organization}\0${token?.subject ?? ''}\0${token?.repository ?? ''}`;
}

/** Milliseconds that timers may be early, and answers be read before their end is noted. */
export const SLACK = 10;

/** Returns true if a request that began at `started` (real time) may have been sent because of an earlier answer. */
export function mayFollow(started: number, { record }: SeenRequest): boolean {
  return started > record.started && started > endOf(record) - SLACK;
}

/** Whether its client cannot know what came of it: the answer did not arrive, or says that it was not known. */
export function isLost({ record: { outcome, status } }: SeenRequest): boolean {
  return outcome === 'cut' || outcome === 'gone' || status === 500 || status === 502 || status === 504;
}
