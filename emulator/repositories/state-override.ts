import { countRequest, type Expiry, isExpired, startExpiry } from '../time/expiry.js';
import type { RepositoryState } from './lifecycle.js';

/** What a repository can be told to pretend. `no_default_branch`: HEAD is detached. */
export type PretendedState = Exclude<RepositoryState, 'archived'> | 'no_default_branch';

/** How long a state lasts, and what its refusals say of that. */
export interface StateTerm {
  /** Undefined: until another state is set. */
  readonly ends?: Expiry | undefined;
  /** Seconds that refusals name; undefined: those until the end. */
  readonly retryAfter?: number | undefined;
}

/** A state that was set from outside, in front of what the repository is. */
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

/** Seconds that refusals name if the state has no end by the clock. */
export const RETRY_AFTER = 1;

/** Returns true if the repository is in cold storage, or thaws from there. */
export function isCold({ state, thaw }: Cold): boolean {
  return state === 'archived' || (state === 'thawing' && thaw !== undefined);
}

/** The repository's own state, behind any override. */
export function ownStateOf({ state, thaw }: Cold, now: number): { readonly state: RepositoryState } & StateTerm {
  return state === 'thawing' && thaw?.ends && isExpired(thaw.ends, now) ? { state: 'active' } : { state, ...thaw };
}

/** The thaw that begins now. It lasts `RETRY_AFTER` seconds unless its term says otherwise. */
export function beginThaw({ retryAfter, ends }: StateTerm, now: number): StateTerm {
  return { ends: startExpiry(ends ?? { after: (retryAfter ?? RETRY_AFTER) * 1000 }, now), retryAfter };
}

/** The override that holds now. */
export function overrideOf({ override }: Overridden, now: number): StateOverride | undefined {
  return override?.ends && isExpired(override.ends, now) ? undefined : override;
}

/** What is left of a state after one more refused request; undefined if that was the last one. */
export function leftOf<Term extends StateTerm>(met: Term, now: number): Term | undefined {
  if (met.ends?.requests === undefined) return met;
  const ends = countRequest(met.ends);
  return isExpired(ends, now) ? undefined : { ...met, ends };
}
