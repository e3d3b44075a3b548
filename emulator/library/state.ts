import type { CurrentWorld } from '../world/current-world.js';
import { changeState, type StateChanges } from '../world/state-changes.js';
import { readState, type StateView } from '../world/state-view.js';

export type { StateChanges } from '../world/state-changes.js';
export type { OrganizationState, RepositoryStateView, StateView } from '../world/state-view.js';

/** Which organization's repositories are meant; the first one's unless given. */
export interface StateScope {
  readonly org?: string;
}

/** What an emulator pretends, apart from what requests wrote. */
export interface EmulatorState {
  /**
   * The state as it is; later changes do not show in it. Throws an `Error` when there is no such organization.
   *
   * ```js
   * emulator.state.read().repositories['team/app']; // { state: 'active' }
   * ```
   */
  read(scope?: StateScope): StateView;
  /**
   * Changes all of it in one step, or nothing: throws an `Error` that names an organization, a repository or a member
   * that does not exist, and a value that cannot be. A state lasts until another is set, or as `ends` says: for so many
   * `requests`, for a time on the clock (`after`), or until the latch `signal` is released. What a repository is set to
   * while a sync is running cancels the sync; no event tells of it.
   *
   * ```js
   * emulator.state.change({ organizations: { demo: { authentication: 'unavailable', ends: { requests: 2 } } } });
   * emulator.state.change({ repositories: { 'team/app': { state: 'thawing', ends: { after: 'PT30S' } } } });
   * emulator.state.change({ limits: { maxMetadataCommits: 10 } });
   * ```
   */
  change(changes: StateChanges, scope?: StateScope): void;
}

/** @internal */
export function stateOf(current: CurrentWorld, firstOrg: string): EmulatorState {
  return {
    read: ({ org = firstOrg } = {}) => readState(current.world, org),
    change: (changes, { org = firstOrg } = {}) => changeState(current.world, org, changes),
  };
}
