import {
  type ExpiryChange,
  millisecondsOf,
  type OrganizationChanges,
  type RepositoryChanges,
  requireOrganization,
  type StateChanges,
  stateChangesSchema,
} from '../changes/state-changes.js';
import { checkShape } from '../http/body.js';
import { problem } from '../http/problem.js';
import { withStatus } from '../repositories/deployments.js';
import type { Clock } from '../time/clock.js';
import { type Expiry, startExpiry } from '../time/expiry.js';
import type { Syncs } from '../upstream/syncs.js';
import type { Organizations, Switches } from './organizations.js';
import type { Repositories } from './repositories.js';
import type { Settings } from './settings.js';

/** Parts of a world (state of an emulated service) that `changeState` reads and changes. */
interface ChangedWorld {
  readonly state: {
    readonly clock: Clock;
    readonly organizations: Organizations;
    readonly repositories: Repositories;
    readonly settings: Settings;
  };
  readonly background: { readonly syncs: Syncs };
}

/**
 * Returns the condition that ends a state which begins later; undefined if the state has no end. A duration stays a
 * duration, because the start is still unknown.
 */
function readExpiry(ends: ExpiryChange | undefined): Expiry | undefined {
  if (!ends) return undefined;
  const { requests, after, signal } = ends;
  return { requests, signal, after: after === undefined ? undefined : millisecondsOf(after) };
}

/**
 * Returns the condition that ends a state which begins now; undefined if the state has no end. A duration becomes a
 * point in time.
 */
function readStartedExpiry(ends: ExpiryChange | undefined, now: number): Expiry | undefined {
  const read = readExpiry(ends);
  return read && startExpiry(read, now);
}

/**
 * Applies a test's changes to the simulated state of a world: all of them or none. `organization` owns the repositories
 * to change. Throws `bad_request` with the name of an organization, repository or member that does not exist or has an
 * invalid value.
 *
 * @internal
 */
export function changeState(world: ChangedWorld, organization: string, given: StateChanges): void {
  const { organizations = {}, repositories = {}, ...settings } = checkShape(stateChangesSchema(), given, 'The state');
  requireOrganization(world, organization);
  // All changes are validated before the first is applied, so that an invalid change leaves nothing changed. The
  // functions in `steps` apply the changes.
  const steps = [
    ...Object.entries(organizations).map(([name, changes]) => organizationStep(world, name, changes)),
    ...Object.entries(repositories).map(([name, changes]) => repositoryStep(world, organization, name, changes)),
  ];
  for (const step of steps) step();
  world.state.settings.change(settings);
}

/** Validates the changes of an organization. Returns a function that applies them. */
function organizationStep(world: ChangedWorld, name: string, changes: OrganizationChanges): () => void {
  requireOrganization(world, name);
  const { authentication, hosting, forgeApps, upstream, ends } = changes;
  const switches: Partial<Switches> = {
    ...(authentication && { authenticationAvailable: authentication === 'available' }),
    ...(hosting && { hostingEnabled: hosting === 'on' }),
    ...(forgeApps !== undefined && { forgeApps }),
    ...(upstream && {
      upstreamFailure: upstream === 'reachable' ? undefined : { message: upstream.error, status: upstream.status },
    }),
  };
  const { organizations, clock } = world.state;
  return () => organizations.set(name, switches, readStartedExpiry(ends, clock.now()));
}

/** Validates the changes of a repository. Returns a function that applies them. */
function repositoryStep(
  world: ChangedWorld,
  organization: string,
  name: string,
  changes: RepositoryChanges,
): () => void {
  const repository = world.state.repositories.find(organization, name);
  const fail = (why: string) => problem('bad_request', `repositories.${name}: ${why}.`);
  if (!repository || repository.record.state === 'deleted') {
    throw fail(`the repository ${JSON.stringify(name)} does not exist`);
  }
  const { state, ends, retryAfter, deployments = {} } = changes;
  if (state === 'archived' && repository.record.state === 'syncing')
    throw fail('the repository cannot be archived while a sync of it is running');
  for (const id of Object.keys(deployments)) {
    if (!repository.record.deployments?.get(id)) throw fail(`the repository has no deployment ${JSON.stringify(id)}`);
  }
  const now = world.state.clock.now();
  return () => {
    for (const [id, { status, after }] of Object.entries(deployments)) {
      const at = now + (after === undefined ? 0 : millisecondsOf(after));
      const { deployments: before } = repository.record;
      repository.update({ deployments: withStatus(before!, id, { status, at }, after !== undefined) });
    }
    if (state === undefined) return;
    world.background.syncs.cancel(repository);
    const isOwn = state === 'active' || state === 'archived';
    repository.update({ override: isOwn ? undefined : { state, ends: readStartedExpiry(ends, now), retryAfter } });
    repository.restore();
    if (state === 'archived') repository.archive({ ends: readExpiry(ends), retryAfter });
  };
}
