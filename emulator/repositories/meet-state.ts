import type { Variants } from '../config/variants.js';
import { secondsLeft } from '../time/ends.js';
import { type Affecting, checkState, refusalOf } from './lifecycle.js';
import type { Repository } from './repository.js';
import { RETRY_AFTER } from './state-override.js';

export interface Moment {
  readonly variants: Variants;
  /** Milliseconds on the world's clock. */
  readonly now: number;
}

/**
 * Throws the problem with which the state of the repository, pretended or its own, refuses the operation. A state that
 * ends after a number of requests counts the requests that it refuses.
 */
export function meetState(repository: Repository, operation: Affecting, { variants, now }: Moment): void {
  const { state, record } = repository;
  if (state === 'active' && record.override === undefined) return;
  const term = repository.meetState({ isRefused: refusalOf(state, operation, variants) !== undefined });
  const left = term?.ends && secondsLeft(term.ends, now);
  checkState(state, operation, variants, { retryAfter: term?.retryAfter ?? left ?? RETRY_AFTER });
}
