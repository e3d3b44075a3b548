import {
  type EndsChange,
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

/** What is changed of a world. */
interface ChangedWorld {
  readonly state: {
    readonly clock: Clock;
    readonly organizations: Organizations;
    readonly repositories: Repositories;
    readonly settings: Settings;
  };
  readonly background: { readonly syncs: Syncs };
}

/** The end of what begins later. */
function readEnds(ends: EndsChange | undefined): Expiry | undefined {
  if (!ends) return undefined;
  const { requests, after, signal } = ends;
  return { requests, signal, after: after === undefined ? undefined : millisecondsOf(after) };
}

/** The end of what begins now. */
function readBegunEnds(ends: EndsChange | undefined, now: number): Expiry | undefined {
  const read = readEnds(ends);
  return read && startExpiry(read, now);
}

/**
 * Changes all of it in one step, or nothing: throws `bad_request` that names an organization, a repository or a member
 * that does not exist, and a value that cannot be. `organization` is the one whose repositories are meant.
 * @internal
 */
export function changeState(world: ChangedWorld, organization: string, given: StateChanges): void {
  const { organizations = {}, repositories = {}, ...settings } = checkShape(stateChangesSchema(), given, 'The state');
  requireOrganization(world, organization);
  // All of it is read before any of it is written.
  const steps = [
    ...Object.entries(organizations).map(([name, changes]) => organizationStep(world, name, changes)),
    ...Object.entries(repositories).map(([name, changes]) => repositoryStep(world, organization, name, changes)),
  ];
  for (const step of steps) step();
  world.state.settings.change(settings);
}

/** What changes the organization. Throws where it cannot be changed so. */
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
  return () => organizations.set(name, switches, readBegunEnds(ends, clock.now()));
}

/** What changes the repository. Throws where it cannot be changed so. */
function repositoryStep(
  world: ChangedWorld,
  organization: string,
  name: string,
  changes: RepositoryChanges,
): () => void {
  const repository = world.state.repositories.find(organization, name);
  const fail = (why: string) => problem('bad_request', `repositories.${name}: ${why}.`);
  if (!repository || repository.record.state === 'deleted') {
    throw fail(`there is no repository ${JSON.stringify(name)}`);
  }
  const { state, ends, retryAfter, deployments = {} } = changes;
  if (state === 'archived' && repository.record.state === 'syncing')
    throw fail('it is syncing, and cannot be archived');
  for (const id of Object.keys(deployments)) {
    if (!repository.record.deployments?.get(id)) throw fail(`there is no deployment ${JSON.stringify(id)}`);
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
    repository.update({ override: isOwn ? undefined : { state, ends: readBegunEnds(ends, now), retryAfter } });
    repository.restore();
    if (state === 'archived') repository.archive({ ends: readEnds(ends), retryAfter });
  };
}
