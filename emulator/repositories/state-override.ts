import { countRequest, type Expiry, isExpired, startExpiry } from '../time/expiry.js';
import type { RepositoryState } from './lifecycle.js';

/** State that a test can set for a repository, regardless of its own state. `no_default_branch`: HEAD is detached. */
export type PretendedState = Exclude<RepositoryState, 'archived'> | 'no_default_branch';

/** End of a repository state, and the `Retry-After` header of requests that it refuses. */
export interface StateTerm {
  /** End of the state; undefined if it lasts until another state is set. */
  readonly ends?: Expiry | undefined;
  /** Seconds in the `Retry-After` header; undefined for the seconds until the state ends. */
  readonly retryAfter?: number | undefined;
}

/** State that a test has set. Clients see it in place of the repository's own. */
export interface StateOverride extends StateTerm {
  readonly state: PretendedState;
}

interface Overridden {
  readonly override?: StateOverride | undefined;
}

interface Cold {
  readonly state: RepositoryState;
  readonly thaw?: StateTerm | undefined;
}

/** Seconds in the `Retry-After` header if it is unknown when the state ends. */
export const RETRY_AFTER = 1;

/** Returns true if the repository is in cold storage, or is returning from it. */
export function isCold({ state, thaw }: Cold): boolean {
  return state === 'archived' || (state === 'thawing' && thaw !== undefined);
}

/** Returns the repository's own state at the time `now`, regardless of a simulated one. */
export function ownStateOf({ state, thaw }: Cold, now: number): { readonly state: RepositoryState } & StateTerm {
  return state === 'thawing' && thaw?.ends && isExpired(thaw.ends, now) ? { state: 'active' } : { state, ...thaw };
}

/**
 * Returns when a repository that starts to return from cold storage will be available: after `RETRY_AFTER` seconds,
 * unless the term says otherwise.
 */
export function beginThaw({ retryAfter, ends }: StateTerm, now: number): StateTerm {
  return { ends: startExpiry(ends ?? { after: (retryAfter ?? RETRY_AFTER) * 1000 }, now), retryAfter };
}

/** Returns the simulated state if it has not ended by the time `now`. */
export function overrideOf({ override }: Overridden, now: number): StateOverride | undefined {
  return override?.ends && isExpired(override.ends, now) ? undefined : override;
}

/**
 * Counts one more refused request. Returns the remaining term of the state; undefined if this was the last request that
 * it refuses.
 */
export function leftOf<Term extends StateTerm>(met: Term, now: number): Term | undefined {
  if (met.ends?.requests === undefined) return met;
  const ends = countRequest(met.ends);
  return isExpired(ends, now) ? undefined : { ...met, ends };
}
