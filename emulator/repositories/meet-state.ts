import type { Variants } from '../config/variants.js';
import { secondsLeft } from '../environment/ends.js';
import { type Affecting, checkState } from './lifecycle.js';
import type { Repository } from './repository.js';

/** Seconds a client is told to wait when a state does not say how long it lasts. */
const RETRY_AFTER = 1;

export interface Moment {
  readonly variants: Variants;
  /** Milliseconds on the world's clock. */
  readonly now: number;
}

/**
 * One request meets the state of the repository, pretended or its own: throws what the state answers to the operation.
 * A repository in cold storage comes back by being asked for; a state that was set for so many requests counts this one.
 */
export function meetState(repository: Repository, operation: Affecting, { variants, now }: Moment): void {
  const { state } = repository;
  const override = repository.meetState();
  if (!override) repository.restore();
  if (state === 'active') return;
  const left = override?.ends && secondsLeft(override.ends, now);
  checkState(state, operation, variants, { retryAfter: override?.retryAfter ?? left ?? RETRY_AFTER });
}
