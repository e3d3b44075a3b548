import type { Variants } from '../config/variants.js';
import type { Ends } from '../environment/ends.js';
import type { Repository } from '../repositories/repository.js';
import { overrideOf, type PretendedState } from '../repositories/state-override.js';
import type { CurrentWorld } from '../world/current-world.js';
import type { Organization } from '../world/organizations.js';
import {
  changeState,
  type RunningLimits,
  requireOrganization,
  runningLimits,
  type StateChanges,
} from '../world/state-changes.js';

export type { StateChanges } from '../world/state-changes.js';

/** When a state is over: with so many requests more, at a time (ISO 8601), or by the release of a latch. */
export interface EndsView {
  readonly requests?: number;
  readonly at?: string;
  readonly signal?: string;
}

/** What an organization pretends. */
export interface OrganizationState {
  /** While it is `unavailable`, every request is refused with 403 `authentication_unavailable`. */
  readonly authentication: 'available' | 'unavailable';
  /** While it is `off`, deployments are refused with 403 `hosting_not_enabled`. */
  readonly hosting: 'on' | 'off';
  /** Applications on the external forge. Unless it is 1, syncs that need one get 412 `forge_app_not_configured`. */
  readonly forgeApps: number;
  /** What reading an upstream fails with: 412 `forge_repository_inaccessible`, or the 4xx `status`; syncs fail with the error. */
  readonly upstream: 'reachable' | { readonly error: string; readonly status?: number };
  /** When what was set is over. */
  readonly ends?: EndsView;
}

export interface RepositoryStateView {
  /**
   * `archived`: in cold storage, from where the next request brings it back, and is refused with `repository_thawing`.
   * `syncing`: an upstream sync is running, or a fork is being filled. `no_default_branch`: HEAD is detached.
   */
  readonly state: 'active' | 'archived' | PretendedState;
  /** Where the state was set, and ends. */
  readonly ends?: EndsView;
  /** Seconds that refusals name. */
  readonly retryAfter?: number;
}

/** Organizations by name, and the repositories of one of them by name. Those that were deleted by a request are left out. */
export interface StateView {
  readonly organizations: Readonly<Record<string, OrganizationState>>;
  readonly repositories: Readonly<Record<string, RepositoryStateView>>;
  readonly limits: RunningLimits;
  readonly variants: Variants;
}

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

export function stateOf(current: CurrentWorld, firstOrg: string): EmulatorState {
  return {
    read({ org = firstOrg } = {}) {
      const { world } = current;
      requireOrganization(world, org);
      const { organizations, repositories, settings, clock } = world.state;
      const existing = [...repositories.existing(org)];
      return {
        organizations: Object.fromEntries(organizations.list().map((found) => [found.name, showOrganization(found)])),
        repositories: Object.fromEntries(existing.map(({ record }) => [record.name, showState(record, clock.now())])),
        limits: runningLimits(settings.limits),
        variants: settings.variants,
      };
    },
    change: (changes, { org = firstOrg } = {}) => changeState(current.world, org, changes),
  };
}

function showOrganization({
  authenticationAvailable,
  hostingEnabled,
  forgeApps,
  upstreamFailure,
  temporary,
}: Organization): OrganizationState {
  const { message: error, status } = upstreamFailure ?? {};
  return {
    authentication: authenticationAvailable ? 'available' : 'unavailable',
    hosting: hostingEnabled ? 'on' : 'off',
    forgeApps,
    upstream: error === undefined ? 'reachable' : { error, ...(status !== undefined && { status }) },
    ...(temporary && { ends: showEnds(temporary.ends) }),
  };
}

function showState(record: Repository['record'], now: number): RepositoryStateView {
  const { state, ends, retryAfter } = overrideOf(record, now) ?? { state: record.state };
  return {
    state,
    ...(ends && { ends: showEnds(ends) }),
    ...(retryAfter !== undefined && { retryAfter }),
  };
}

function showEnds({ requests, at, signal }: Ends): EndsView {
  return {
    ...(requests !== undefined && { requests }),
    ...(at !== undefined && { at: new Date(at).toISOString() }),
    ...(signal !== undefined && { signal }),
  };
}
