import { countRequest, type Expiry, isExpired, startExpiry } from '../time/expiry.js';
import type { RepositoryState } from './lifecycle.js';

/** States that a repository can simulate. `no_default_branch`: HEAD is detached. */
export type PretendedState = Exclude<RepositoryState, 'archived'> | 'no_default_branch';

/** Duration of a state, and the `Retry-After` of its refusals. */
export interface StateTerm {
  /** End of the state; undefined if it lasts until another state is set. */
  readonly ends?: Expiry | undefined;
  /** Seconds for `Retry-After`; undefined for those until the end. */
  readonly retryAfter?: number | undefined;
}

/** Simulated state. It hides the repository's own. */
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

/** Returns true if the repository is archived, or thaws from cold storage. */
export function isCold({ state, thaw }: Cold): boolean {
  return state === 'archived' || (state === 'thawing' && thaw !== undefined);
}

/** Returns the repository's own state, without an override. */
export function ownStateOf({ state, thaw }: Cold, now: number): { readonly state: RepositoryState } & StateTerm {
  return state === 'thawing' && thaw?.ends && isExpired(thaw.ends, now) ? { state: 'active' } : { state, ...thaw };
}

/** Returns the term of a thaw that begins now. Its duration is `RETRY_AFTER` seconds unless the term has an end. */
export function beginThaw({ retryAfter, ends }: StateTerm, now: number): StateTerm {
  return { ends: startExpiry(ends ?? { after: (retryAfter ?? RETRY_AFTER) * 1000 }, now), retryAfter };
}

/** Returns the override if it has not expired. */
export function overrideOf({ override }: Overridden, now: number): StateOverride | undefined {
  return override?.ends && isExpired(override.ends, now) ? undefined : override;
}

/** Returns the remaining term after one more refused request; undefined if it was the last one. */
export function leftOf<Term extends StateTerm>(met: Term, now: number): Term | undefined {
  if (met.ends?.requests === undefined) return met;
  const ends = countRequest(met.ends);
  return isExpired(ends, now) ? undefined : { ...met, ends };
}
