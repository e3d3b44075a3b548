import type { StateChanges } from '../changes/state-changes.js';
import { changeQuotas, type QuotaChanges, type QuotaView, showQuota } from '../quotas/quota-changes.js';
import type { CurrentWorld } from '../world/current-world.js';
import { readState, type StateView } from '../world/state-view.js';

export type { StateChanges } from '../changes/state-changes.js';
export type { OrganizationState, RepositoryStateView, StateView } from '../world/state-view.js';

/** Name of the organization whose repositories are meant. Default: the first organization of the emulator. */
export interface StateScope {
  readonly org?: string;
}

/** Simulated state of an emulator, such as an archived repository. Requests of clients cannot change it. */
export interface EmulatorState {
  /**
   * Returns a copy of the current state. Throws an `Error` if the organization does not exist.
   *
   * ```js
   * emulator.state.read().repositories['team/app']; // { state: 'active' }
   * ```
   */
  read(scope?: StateScope): StateView;
  /**
   * Changes the state atomically. Throws an `Error` that names the invalid value, or the organization, repository or
   * member that does not exist. A state lasts until the next change, or until the end given in `ends`: a number of
   * `requests`, a time on the clock (`after`), or the release of the latch `signal`. Setting the state of a repository
   * cancels its running sync, without an event.
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
 * Request quotas: token buckets on the clock of the emulator. If a bucket has too few tokens, the response is 429
 * `rate_limited` with `RateLimit` and `Retry-After`, and no token is taken. An emulator starts without quotas, so
 * nothing is throttled.
 */
export interface EmulatorQuotas {
  /**
   * Returns the quotas by name.
   *
   * ```js
   * emulator.quotas.change({ all: { capacity: 5, refill: '1/s' } });
   * console.log(emulator.quotas.read().all); // with the defaults: by ['org'], cost { '*': 1 }
   * emulator.quotas.change({ all: null });
   * ```
   */
  read(): Readonly<Record<string, QuotaView>>;
  /**
   * Sets quotas by name, and removes those that are null. Other quotas remain. The change is atomic. Throws an `Error`
   * that names the invalid member.
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
