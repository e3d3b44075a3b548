import { type RunningLimits, requireOrganization, runningLimits } from '../changes/state-changes.js';
import type { Variants } from '../config/variants.js';
import type { Repository } from '../repositories/repository.js';
import { overrideOf, ownStateOf, type PretendedState } from '../repositories/state-override.js';
import type { Expiry } from '../time/expiry.js';
import { isoTime } from '../time/iso-8601.js';
import type { Organization } from './organizations.js';
import { withGiven } from './settings.js';
import type { World } from './world.js';

/**
 * Condition that ends a simulated state. `requests` is the number of requests that the state still refuses. `at` is a
 * time in ISO 8601. `signal` is the name of a latch (named signal); its release ends the state.
 */
export interface ExpiryView {
  readonly requests?: number;
  readonly at?: string;
  /**
   * Milliseconds from the first refused request until an `archived` repository (in cold storage) is available again.
   */
  readonly after?: number;
  readonly signal?: string;
}

/** State of an organization that a test can set. The admin API shows it in this form. */
export interface OrganizationState {
  /** While `unavailable`, every request of the organization is refused with 403 `authentication_unavailable`. */
  readonly authentication: 'available' | 'unavailable';
  /** While `off`, requests about deployments are refused with 403 `hosting_not_enabled`. */
  readonly hosting: 'on' | 'off';
  /**
   * Number of the organization's applications on the external forge (hosting service). If it is not 1, synchronizations
   * that need an application are refused with 412 `forge_app_not_configured`.
   */
  readonly forgeApps: number;
  /**
   * Result of contacting an upstream (repository on an external forge). With `error`, running synchronizations fail
   * with this text. Requests are then refused with 412 `forge_repository_inaccessible`, or with the 4xx `status` if
   * given.
   */
  readonly upstream: 'reachable' | { readonly error: string; readonly status?: number };
  /** Condition that ends the simulated state; absent if the state has no end. */
  readonly ends?: ExpiryView;
}

export interface RepositoryStateView {
  /**
   * State that clients see:
   *
   * - `archived`: in cold storage. The next request is refused with `repository_thawing` and begins the thaw. The thaw
   *   takes `retryAfter` seconds (default 1) on the emulator's clock, or lasts until `ends`.
   * - `syncing`: a synchronization with the upstream is running, or a fork is being filled.
   * - `no_default_branch`: HEAD is detached.
   */
  readonly state: 'active' | 'archived' | PretendedState;
  /** Condition that ends the state. Absent if no test has set the state, or if the state has no end. */
  readonly ends?: ExpiryView;
  /** Seconds in the `Retry-After` header of requests that the state refuses. */
  readonly retryAfter?: number;
}

/**
 * State that tests can read and set. It has all organizations and the repositories of one organization, by name.
 * Repositories that a request has deleted are omitted.
 */
export interface StateView {
  readonly organizations: Readonly<Record<string, OrganizationState>>;
  readonly repositories: Readonly<Record<string, RepositoryStateView>>;
  readonly limits: RunningLimits;
  readonly variants: Variants;
}

/**
 * Returns the part of a world's state that tests can set: its organizations, its settings, and the repositories of one
 * organization. Throws `bad_request` if the organization does not exist. @internal
 */
export function readState(world: World, organization: string): StateView {
  requireOrganization(world, organization);
  const { organizations, repositories, settings, clock } = world.state;
  const existing = [...repositories.existing(organization)];
  return {
    organizations: Object.fromEntries(organizations.list().map((found) => [found.name, showOrganization(found)])),
    repositories: Object.fromEntries(existing.map(({ record }) => [record.name, showState(record, clock.now())])),
    limits: runningLimits(settings.limits),
    variants: settings.variants,
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
    ...(temporary && { ends: showExpiry(temporary.ends) }),
  };
}

function showState(record: Repository['record'], now: number): RepositoryStateView {
  const { state, ends, retryAfter } = overrideOf(record, now) ?? ownStateOf(record, now);
  return withGiven<RepositoryStateView>({ state }, { ends: ends && showExpiry(ends), retryAfter });
}

function showExpiry({ at, ...ends }: Expiry): ExpiryView {
  return withGiven<ExpiryView>({}, { ...ends, at: at === undefined ? undefined : isoTime(at) });
}
