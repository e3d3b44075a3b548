import type { StateChanges } from '../changes/state-changes.js';
import { changeQuotas, type QuotaChanges, type QuotaView, showQuota } from '../quotas/quota-changes.js';
import type { CurrentWorld } from '../world/current-world.js';
import { readState, type StateView } from '../world/state-view.js';

export type { StateChanges } from '../changes/state-changes.js';
export type { OrganizationState, RepositoryStateView, StateView } from '../world/state-view.js';

/**
 * Options of `read` and `change`. `org` is the name of the organization whose repositories are read or changed; by
 * default, the first organization of the emulator.
 */
export interface StateScope {
  readonly org?: string;
}

/**
 * Simulated state of an emulator. For example, a repository is archived, or authentication is unavailable. Tests can
 * change this state; requests of clients cannot.
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
   * Changes the simulated state. Either all changes are applied, or none. Throws an `Error` that names the invalid
   * value, or the organization, repository or member that does not exist.
   *
   * A state lasts until the next change, or until the end given in `ends`. The end is a number of `requests`, a
   * duration on the emulator's clock (`after`), or the release of a latch (`signal`). A latch is a named barrier.
   *
   * Setting the state of a repository cancels a running sync of this repository. No event is emitted for this.
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
 * Returns the interface to the simulated state. `firstOrg` is the organization that is used if a call names none.
 * @internal
 */
export function stateOf(current: CurrentWorld, firstOrg: string): EmulatorState {
  return {
    read: ({ org = firstOrg } = {}) => readState(current.world, org),
    change: (changes, { org = firstOrg } = {}) => current.world.changeState(org, changes),
  };
}

export type { QuotaChanges, QuotaView } from '../quotas/quota-changes.js';

/**
 * Request quotas, which limit the rate of requests. Each quota consists of token buckets, which are refilled as the
 * emulator's clock advances.
 *
 * If a bucket has fewer tokens than a request costs, the response is 429 `rate_limited` with the headers `RateLimit`
 * and `Retry-After`. Such a request takes no token. An emulator starts without quotas, so no request is limited.
 */
export interface EmulatorQuotas {
  /**
   * Returns the current quotas by name. Members that were not given have their default values.
   *
   * ```js
   * emulator.quotas.change({ all: { capacity: 5, refill: '1/s' } });
   * console.log(emulator.quotas.read().all); // with the defaults: by ['org'], cost { '*': 1 }
   * emulator.quotas.change({ all: null });
   * ```
   */
  read(): Readonly<Record<string, QuotaView>>;
  /**
   * Adds, replaces or removes quotas by name; null removes a quota. Other quotas stay unchanged. Either all changes are
   * applied, or none. Throws an `Error` that names the invalid member.
   *
   * ```js
   * emulator.quotas.change({
   *   gateway: { by: ['org'], capacity: 20, refill: '10/s', cost: { commitPack: 5, '*': 1 } },
   * });
   * ```
   */
  change(changes: QuotaChanges): void;
}

/**
 * Returns the interface to the request quotas. It always controls the current world (state of the service). @internal
 */
export function quotasOf(current: CurrentWorld): EmulatorQuotas {
  return {
    read: () => Object.fromEntries(current.world.state.quotas.list().map((quota) => [quota.name, showQuota(quota)])),
    change: (changes) => changeQuotas(current.world, changes),
  };
}
