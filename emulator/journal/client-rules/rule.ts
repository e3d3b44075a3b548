import type { SeenRequest } from '../seen-request.js';
import type { ClientRuleId } from './ids.js';

/** A request that a rule has something to say of. */
export interface Occasion {
  readonly request: SeenRequest;
  /** The earlier request that makes it an occasion. */
  readonly earlier?: SeenRequest | undefined;
  /** What is wrong with it, in one sentence; undefined where nothing is. */
  readonly fault?: string | undefined;
}

/** What is asked of clients, evaluated by what they sent. */
export interface ClientRule {
  readonly id: ClientRuleId;
  readonly title: string;
  /** The section of the specification or the RFC that asks it. */
  readonly source: string;
  readonly level: 'must' | 'should';
  evaluate(seen: readonly SeenRequest[]): Iterable<Occasion>;
}

/** Who sent a request, as far as its token says. */
export function clientOf({ record: { organization, token } }: SeenRequest): string {
  return `${organization}\0${token?.subject ?? ''}\0${token?.repository ?? ''}`;
}

/** The code of an answer; of one that a fault worded, what it shows. */
export function codeOf(seen: SeenRequest): string | undefined {
  if (seen.record.status < 400) return undefined;
  const { code } = (seen.answerJson ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : seen.record.code;
}

/** Whether its client cannot know what came of it: the answer did not arrive, or says that it was not known. */
export function isLost({ record: { outcome, status } }: SeenRequest): boolean {
  return outcome === 'cut' || outcome === 'gone' || status === 500 || status === 502 || status === 504;
}
