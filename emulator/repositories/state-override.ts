import { countRequest, type Expiry, isExpired, startExpiry } from '../time/expiry.js';
import type { RepositoryState } from './lifecycle.js';

/**
 * State that a test can make a repository pretend to have, regardless of its real state. `no_default_branch`: HEAD is
 * detached.
 */
export type PretendedState = Exclude<RepositoryState, 'archived'> | 'no_default_branch';

/**
 * Condition that ends a repository state, and the `Retry-After` header of responses to requests that the state refuses.
 */
export interface StateTerm {
  /** Condition that ends the state; undefined if the state lasts until another one is set. */
  readonly ends?: Expiry | undefined;
  /** Seconds in the `Retry-After` header; undefined if the header must contain the seconds until the state ends. */
  readonly retryAfter?: number | undefined;
}

/** State that a test makes a repository pretend to have. Clients see it instead of the real state. */
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

/** Seconds in the `Retry-After` header of refusals if the time at which the state ends is unknown. */
export const RETRY_AFTER = 1;

/** Returns true if the repository is in cold storage (archived), or is being thawed (returns from cold storage). */
export function isCold({ state, thaw }: Cold): boolean {
  return state === 'archived' || (state === 'thawing' && thaw !== undefined);
}

/**
 * Returns the real state of the repository at the time `now` (in milliseconds), regardless of a state that a test has
 * set.
 */
export function ownStateOf({ state, thaw }: Cold, now: number): { readonly state: RepositoryState } & StateTerm {
  return state === 'thawing' && thaw?.ends && isExpired(thaw.ends, now) ? { state: 'active' } : { state, ...thaw };
}

/**
 * Returns the term of a thaw (return from cold storage) that begins at the time `now`. It lasts until the condition
 * `ends`. Without `ends`, it lasts `retryAfter` seconds, by default `RETRY_AFTER`.
 */
export function beginThaw({ retryAfter, ends }: StateTerm, now: number): StateTerm {
  return { ends: startExpiry(ends ?? { after: (retryAfter ?? RETRY_AFTER) * 1000 }, now), retryAfter };
}

/**
 * Returns the state that a test has set for the repository; undefined if none is set, or if it has ended by the time
 * `now`.
 */
export function overrideOf({ override }: Overridden, now: number): StateOverride | undefined {
  return override?.ends && isExpired(override.ends, now) ? undefined : override;
}

/**
 * Counts one more request that a state refused. Returns the remaining term of the state; undefined if this was the last
 * request that the state refuses. States that do not end after a number of requests are returned unchanged.
 */
export function leftOf<Term extends StateTerm>(met: Term, now: number): Term | undefined {
  if (met.ends?.requests === undefined) return met;
  const ends = countRequest(met.ends);
  return isExpired(ends, now) ? undefined : { ...met, ends };
}
