import type { StateChanges } from '../changes/state-changes.js';
import { changeQuotas, type QuotaChanges, type QuotaView, showQuota } from '../quotas/quota-changes.js';
import type { CurrentWorld } from '../world/current-world.js';
import { readState, type StateView } from '../world/state-view.js';

export type { StateChanges } from '../changes/state-changes.js';
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
    change: (changes, { org = firstOrg } = {}) => current.world.changeState(org, changes),
  };
}

export type { QuotaChanges, QuotaView } from '../quotas/quota-changes.js';

/**
 * How many requests can be made: token buckets on the clock. A request that finds too few tokens is answered 429
 * `rate_limited`, with `RateLimit` and `Retry-After`, and takes none. Without quotas, which is how an emulator starts,
 * nothing is throttled.
 */
export interface EmulatorQuotas {
  /**
   * The quotas by name.
   *
   * ```js
   * emulator.quotas.change({ all: { capacity: 5, refill: '1/s' } });
   * console.log(emulator.quotas.read().all); // with the defaults: by ['org'], cost { '*': 1 }
   * emulator.quotas.change({ all: null });
   * ```
   */
  read(): Readonly<Record<string, QuotaView>>;
  /**
   * Sets quotas by name, and removes those that are null; others stay. All of them or none: throws an `Error` that names
   * the member that cannot be.
   *
   * ```js
   * emulator.quotas.change({
   *   gateway: { by: ['org'], capacity: 20, refill: '10/s', cost: { commitPack: 5, '*': 1 } },
   * });
   * ```
   */
  change(changes: QuotaChanges): void;
}

/** @internal */
export function quotasOf(current: CurrentWorld): EmulatorQuotas {
  return {
    read: () => Object.fromEntries(current.world.state.quotas.list().map((quota) => [quota.name, showQuota(quota)])),
    change: (changes) => changeQuotas(current.world, changes),
  };
}
