import { afterRequest, type Ends, isOver } from '../environment/ends.js';
import type { RepositoryState } from './lifecycle.js';

/** What a repository can be told to pretend. `no_default_branch`: HEAD is detached. */
export type PretendedState = Exclude<RepositoryState, 'archived'> | 'no_default_branch';

/** A state that was set from outside, in front of what the repository is. */
export interface StateOverride {
  readonly state: PretendedState;
  /** Without it, until another state is set. */
  readonly ends?: Ends | undefined;
  /** Seconds that refusals name; without it, those until the end. */
  readonly retryAfter?: number | undefined;
}

interface Overridden {
  readonly override?: StateOverride | undefined;
}

/** The override that holds now. */
export function overrideOf({ override }: Overridden, now: number): StateOverride | undefined {
  return override?.ends && isOver(override.ends, now) ? undefined : override;
}

/** The override that a request meets now, and the one that the next request will. */
export function meetOverride(
  record: Overridden,
  now: number,
): { met: StateOverride | undefined; left: StateOverride | undefined } {
  const met = overrideOf(record, now);
  if (met?.ends === undefined) return { met, left: met };
  const ends = afterRequest(met.ends);
  return { met, left: isOver(ends, now) ? undefined : { ...met, ends } };
}
