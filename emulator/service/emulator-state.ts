import { resolveOptions } from '../config/options.js';
import type { Repository } from '../repositories/repository.js';
import type { CurrentWorld } from '../world/current-world.js';
import type { Organization } from '../world/organizations.js';

/** What an organization pretends. */
export interface OrganizationState {
  /** While it is `unavailable`, every request is refused with 403 `authentication_unavailable`. */
  readonly authentication: 'available' | 'unavailable';
  /** While it is `off`, deployments are refused with 403 `hosting_not_enabled`. */
  readonly hosting: 'on' | 'off';
  /** Applications on the external forge. Unless it is 1, syncs that need one get 412 `forge_app_not_configured`. */
  readonly forgeApps: number;
}

export interface RepositoryStateView {
  /**
   * `archived`: in cold storage, from where the next request brings it back, and is refused with `repository_thawing`.
   * `syncing`: an upstream sync is running, or a fork is being filled.
   */
  readonly state: 'active' | 'archived' | 'thawing' | 'syncing';
}

/** Organizations by name, and the repositories of one of them by name. Those that were deleted are left out. */
export interface StateView {
  readonly organizations: Readonly<Record<string, OrganizationState>>;
  readonly repositories: Readonly<Record<string, RepositoryStateView>>;
}

/** What is absent stays as it is. */
export interface StateChanges {
  readonly organizations?: Readonly<Record<string, Partial<OrganizationState>>>;
  readonly repositories?: Readonly<Record<string, { readonly state: 'active' | 'archived' }>>;
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
   * that does not exist, and a value that cannot be.
   *
   * ```js
   * emulator.state.change({ organizations: { demo: { authentication: 'unavailable' } } });
   * emulator.state.change({ repositories: { 'team/app': { state: 'archived' } } });
   * ```
   */
  change(changes: StateChanges, scope?: StateScope): void;
}

/** How each switch is shown, and read; what it cannot be is refused in the words of the option of `start`. */
const SWITCHES: {
  readonly [Name in keyof OrganizationState]: {
    readonly show: (organization: Organization) => OrganizationState[Name];
    readonly read: (value: OrganizationState[Name]) => Partial<Organization>;
  };
} = {
  authentication: {
    show: ({ authenticationAvailable }) => (authenticationAvailable ? 'available' : 'unavailable'),
    read: (value) => {
      if (value === 'available' || value === 'unavailable') return { authenticationAvailable: value === 'available' };
      throw new Error(`authentication has to be available or unavailable, not ${JSON.stringify(value)}.`);
    },
  },
  hosting: {
    show: ({ hostingEnabled }) => (hostingEnabled ? 'on' : 'off'),
    read: (hosting) => ({ hostingEnabled: resolveOptions({ hosting }).hosting === 'on' }),
  },
  forgeApps: {
    show: ({ forgeApps }) => forgeApps,
    read: (forgeApps) => ({ forgeApps: resolveOptions({ forgeApps }).forgeApps }),
  },
};

export function stateOf(current: CurrentWorld, firstOrg: string): EmulatorState {
  return {
    read({ org = firstOrg } = {}) {
      const { organizations, repositories } = current.world.state;
      requireOrganization(current, org);
      return {
        organizations: Object.fromEntries(organizations.list().map((found) => [found.name, showOrganization(found)])),
        repositories: Object.fromEntries(
          Array.from(repositories.list(org), ({ record }) => [record.name, { state: record.state }]),
        ),
      } as StateView;
    },
    change({ organizations = {}, repositories = {}, ...others }, { org = firstOrg } = {}) {
      refuseUnknown(others);
      requireOrganization(current, org);
      // All of it is read before any of it is written.
      const switches = Object.entries(organizations).map(([name, changes]) => {
        requireOrganization(current, name);
        return [name, readSwitches(changes)] as const;
      });
      const moves = Object.entries(repositories).map(([name, { state, ...rest }]) => {
        refuseUnknown(rest);
        return readMove(current.world.state.repositories.find(org, name), name, state);
      });
      for (const [name, changes] of switches) current.world.state.organizations.update(name, changes);
      for (const move of moves) move();
    },
  };
}

function requireOrganization(current: CurrentWorld, name: string): void {
  if (!current.world.state.organizations.get(name))
    throw new Error(`There is no organization ${JSON.stringify(name)}.`);
}

function refuseUnknown(others: object): void {
  for (const name of Object.keys(others)) throw new Error(`There is no member ${JSON.stringify(name)} of the state.`);
}

function showOrganization(organization: Organization): OrganizationState {
  const { authentication, hosting, forgeApps } = SWITCHES;
  return {
    authentication: authentication.show(organization),
    hosting: hosting.show(organization),
    forgeApps: forgeApps.show(organization),
  };
}

function readSwitches({
  authentication,
  hosting,
  forgeApps,
  ...others
}: Partial<OrganizationState>): Partial<Organization> {
  refuseUnknown(others);
  return {
    ...(authentication !== undefined && SWITCHES.authentication.read(authentication)),
    ...(hosting !== undefined && SWITCHES.hosting.read(hosting)),
    ...(forgeApps !== undefined && SWITCHES.forgeApps.read(forgeApps)),
  };
}

/** The step that brings a repository into `state`. Throws where it cannot get there. */
function readMove(repository: Repository | undefined, name: string, state: unknown): () => void {
  if (!repository || repository.record.state === 'deleted') {
    throw new Error(`There is no repository ${JSON.stringify(name)}.`);
  }
  const now = repository.record.state;
  if (state !== 'active' && state !== 'archived') {
    throw new Error(`The state of a repository is "active" or "archived", not ${JSON.stringify(state)}.`);
  }
  if (now !== 'active' && now !== 'archived') throw new Error(`Repository ${JSON.stringify(name)} is ${now}.`);
  return () => (state === 'active' ? repository.restore() : repository.archive());
}
