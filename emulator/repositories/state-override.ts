import { countRequest, type Expiry, isExpired, startExpiry } from '../time/expiry.js';
import type { RepositoryState } from './lifecycle.js';

/** State that a test can make a repository pretend to have. `no_default_branch` means that HEAD is detached. */
export type PretendedState = Exclude<RepositoryState, 'archived'> | 'no_default_branch';

/** Term of a repository state: the condition that ends the state, and the `Retry-After` header of refused requests. */
export interface StateTerm {
  /** Condition that ends the state. If undefined, the state lasts until it is changed. */
  readonly ends?: Expiry | undefined;
  /** Seconds in the `Retry-After` header. If undefined, the header has the seconds until the state ends. */
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

/** Default value of the `Retry-After` header, in seconds. Used if the end of the state is unknown. */
export const RETRY_AFTER = 1;

/** Returns true if the repository is in cold storage, or in a thaw (return from cold storage). */
export function isCold({ state, thaw }: Cold): boolean {
  return state === 'archived' || (state === 'thawing' && thaw !== undefined);
}

/**
 * Returns the real state of the repository at the time `now` (in milliseconds), even if a test has set another state.
 */
export function ownStateOf({ state, thaw }: Cold, now: number): { readonly state: RepositoryState } & StateTerm {
  return state === 'thawing' && thaw?.ends && isExpired(thaw.ends, now) ? { state: 'active' } : { state, ...thaw };
}

/**
 * Returns the term of a thaw (return from cold storage) that begins at the time `now`. The thaw lasts until the
 * condition `ends`. Without `ends`, it lasts `retryAfter` seconds; the default is `RETRY_AFTER`.
 */
export function beginThaw({ retryAfter, ends }: StateTerm, now: number): StateTerm {
  return { ends: startExpiry(ends ?? { after: (retryAfter ?? RETRY_AFTER) * 1000 }, now), retryAfter };
}

/** Returns the state that a test has set. Undefined if none is set, or if the state has ended by the time `now`. */
export function overrideOf({ override }: Overridden, now: number): StateOverride | undefined {
  return override?.ends && isExpired(override.ends, now) ? undefined : override;
}

/**
 * Counts one more refused request. Returns the remaining term of the state; undefined if this request ends the state. A
 * state that does not end after a number of requests is returned unchanged.
 */
export function leftOf<Term extends StateTerm>(met: Term, now: number): Term | undefined {
  if (met.ends?.requests === undefined) return met;
  const ends = countRequest(met.ends);
  return isExpired(ends, now) ? undefined : { ...met, ends };
}
