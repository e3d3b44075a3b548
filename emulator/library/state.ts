import type { StateChanges } from '../changes/state-changes.js';
import { changeQuotas, type QuotaChanges, type QuotaView, showQuota } from '../quotas/quota-changes.js';
import type { CurrentWorld } from '../world/current-world.js';
import { readState, type StateView } from '../world/state-view.js';

export type { StateChanges } from '../changes/state-changes.js';
export type { OrganizationState, RepositoryStateView, StateView } from '../world/state-view.js';

/**
 * Options of `read` and `change`. `org`: name of the organization whose repositories are read or changed. Default: the
 * first organization of the emulator.
 */
export interface StateScope {
  readonly org?: string;
}

/**
 * Simulated state of an emulator, for example that a repository is archived or that authentication is unavailable.
 * Requests of clients cannot change this state, but tests can.
 */
export interface EmulatorState {
  /**
   * Returns a copy of the current simulated state. Throws an `Error` if the organization in `scope` does not exist.
   *
   * ```js
   * emulator.state.read().repositories['team/app']; // { state: 'active' }
   * ```
   */
  read(scope?: StateScope): StateView;
  /**
   * Changes the simulated state. All changes are applied, or none. Throws an `Error` that names the invalid value, or
   * the organization, repository or member that does not exist. A state lasts until the next change, or until the end
   * given in `ends`: after a number of `requests`, after a duration on the emulator's clock (`after`), or at the
   * release of the latch (named barrier) `signal`. Setting the state of a repository cancels a sync of this repository
   * that is running, and no event is emitted for the cancellation.
   *
   * ```js
   * emulator.state.change({ organizations: { demo: { authentication: 'unavailable', ends: { requests: 2 } } } });
   * emulator.state.change({ repositories: { 'team/app': { state: 'thawing', ends: { after: 'PT30S' } } } });
   * emulator.state.change({ limits: { maxMetadataCommits: 10 } });
   * ```
   */
  change(changes: StateChanges, scope?: StateScope): void;
}

/**
 * Returns the interface to the simulated state. `firstOrg`: organization that is used if a call names none. @internal
 */
export function stateOf(current: CurrentWorld, firstOrg: string): EmulatorState {
  return {
    read: ({ org = firstOrg } = {}) => readState(current.world, org),
    change: (changes, { org = firstOrg } = {}) => current.world.changeState(org, changes),
  };
}

export type { QuotaChanges, QuotaView } from '../quotas/quota-changes.js';

/**
 * Request quotas (limits on the rate of requests). Each quota consists of token buckets, which are refilled as the
 * emulator's clock advances. If a bucket has fewer tokens than a request costs, the response is 429 `rate_limited` with
 * the headers `RateLimit` and `Retry-After`, and the request takes no token. An emulator starts without quotas, so no
 * request is limited.
 */
export interface EmulatorQuotas {
  /**
   * Returns the current quotas by name, with the defaults of members that were not given.
   *
   * ```js
   * emulator.quotas.change({ all: { capacity: 5, refill: '1/s' } });
   * console.log(emulator.quotas.read().all); // with the defaults: by ['org'], cost { '*': 1 }
   * emulator.quotas.change({ all: null });
   * ```
   */
  read(): Readonly<Record<string, QuotaView>>;
  /**
   * Adds or replaces the given quotas by name. A value of null removes the quota. Quotas that are not named do not
   * change. All changes are applied, or none. Throws an `Error` that names the invalid member.
   *
   * ```js
   * emulator.quotas.change({
   *   gateway: { by: ['org'], capacity: 20, refill: '10/s', cost: { commitPack: 5, '*': 1 } },
   * });
   * ```
   */
  change(changes: QuotaChanges): void;
}

/** Returns the interface to the request quotas of the current world (state of the service). @internal */
export function quotasOf(current: CurrentWorld): EmulatorQuotas {
  return {
    read: () => Object.fromEntries(current.world.state.quotas.list().map((quota) => [quota.name, showQuota(quota)])),
    change: (changes) => changeQuotas(current.world, changes),
  };
}
