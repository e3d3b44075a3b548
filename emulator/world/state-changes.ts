import { z } from 'zod';
import { type Limits, RUNNING_LIMITS } from '../config/limits.js';
import { type Variants, variantRows } from '../config/variants.js';
import { checkShape } from '../http/body.js';
import { problem } from '../http/problem.js';
import { once } from '../memory/once.js';
import { DEPLOYMENT_STATUSES, type DeploymentStatus } from '../repositories/deployments.js';
import type { Clock } from '../time/clock.js';
import { begun, type Ends } from '../time/ends.js';
import { parseDuration } from '../time/iso-8601.js';
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

/** What a repository can be told to be. */
const SETTABLE_STATES = ['active', 'archived', 'thawing', 'syncing', 'deleted', 'no_default_branch'] as const;

/** States whose refusals name a time to wait. */
const WAITED_FOR: ReadonlySet<string | undefined> = new Set(['archived', 'thawing', 'syncing']);

/** End of a state: exactly one of these. */
export interface EndsChange {
  /** Number of requests that the state refuses, until it ends. */
  readonly requests?: number | undefined;
  /** Time on the clock until the state ends: a duration such as `PT30S` or `30s`, or milliseconds. `archived` counts from the first refused request. */
  readonly after?: string | number | undefined;
  /** When the latch of that name is released. */
  readonly signal?: string | undefined;
}

/** What is absent stays as it is. */
export interface OrganizationChanges {
  readonly authentication?: 'available' | 'unavailable' | undefined;
  readonly hosting?: 'on' | 'off' | undefined;
  readonly forgeApps?: number | undefined;
  readonly upstream?: 'reachable' | { readonly error: string; readonly status?: number | undefined } | undefined;
  readonly ends?: EndsChange | undefined;
}

/** What is absent stays as it is. */
export interface RepositoryChanges {
  readonly state?: (typeof SETTABLE_STATES)[number] | undefined;
  readonly ends?: EndsChange | undefined;
  /** Seconds that refusals name, of the states `archived`, `thawing` and `syncing`. */
  readonly retryAfter?: number | undefined;
  /** What deployments come to, by their ids. */
  readonly deployments?:
    | Readonly<Record<string, { readonly status: DeploymentStatus; readonly after?: string | number | undefined }>>
    | undefined;
}

/** Organizations and repositories by name; what is absent stays as it is. */
export interface StateChanges {
  readonly organizations?: Readonly<Record<string, OrganizationChanges>> | undefined;
  readonly repositories?: Readonly<Record<string, RepositoryChanges>> | undefined;
  readonly limits?: { readonly [Name in keyof RunningLimits]?: number | undefined } | undefined;
  readonly variants?: Partial<Variants> | undefined;
}

/** Maximum number of organizations, of repositories, and of deployments of a repository in one change, which is checked in one piece. */
const MOST_CHANGED = 1000;

/** Most runs never change a state, so what changes are read with is made when the first ones come. */
function createSchemas() {
  const limited = { maxProperties: MOST_CHANGED };
  const duration = z.union([
    z.string().refine((text) => parseDuration(text) !== undefined, 'has to be a duration such as PT30S or 30s'),
    z.int().min(0),
  ]);

  /** When a state is over: exactly one of these. */
  const endsOf = z
    .strictObject({
      requests: z.int().min(1).max(1_000_000_000),
      after: duration,
      signal: z.string().regex(/^[\w.-]{1,100}$/, 'has to be the name of a latch: letters, digits, ".", "-" and "_"'),
    })
    .partial()
    .refine((ends) => Object.keys(ends).length === 1, 'has to name one of requests, after and signal');

  const upstream = z.union([
    z.literal('reachable'),
    z.strictObject({
      error: z.string().min(1).max(1000),
      status: z.int().min(400).max(599).optional(),
    }),
  ]);

  const organization = z
    .strictObject({
      authentication: z.enum(['available', 'unavailable']),
      hosting: z.enum(['on', 'off']),
      forgeApps: z.int().min(0).max(100),
      upstream,
      ends: endsOf,
    })
    .partial();

  const deployment = z.strictObject({ status: z.enum(DEPLOYMENT_STATUSES), after: duration.optional() });

  const repository = z
    .strictObject({
      state: z.enum(SETTABLE_STATES),
      ends: endsOf,
      retryAfter: z.int().min(0).max(1_000_000_000),
      deployments: z.record(z.string(), deployment).meta(limited),
    })
    .partial()
    .refine(({ state, ends }) => ends === undefined || (state !== undefined && state !== 'active'), {
      path: ['ends'],
      message: 'goes with a state that is set: archived, thawing, syncing, deleted or no_default_branch',
    })
    .refine(({ state, retryAfter }) => retryAfter === undefined || WAITED_FOR.has(state), {
      path: ['retryAfter'],
      message: 'goes with the states archived, thawing and syncing',
    });

  const limits = z
    .strictObject(
      Object.fromEntries(RUNNING_LIMITS.map((name) => [name, z.int().min(0)])) as Record<
        (typeof RUNNING_LIMITS)[number],
        z.ZodInt
      >,
    )
    .partial();

  const variants = z
    .strictObject(Object.fromEntries(variantRows().map(({ name, values }) => [name, z.enum(values)])))
    .partial() as unknown as z.ZodType<Partial<Variants>>;

  const stateChanges = z
    .strictObject({
      organizations: z.record(z.string(), organization).meta(limited),
      repositories: z.record(z.string(), repository).meta(limited),
      limits,
      variants,
    })
    .partial();
  return { endsOf, organization, repository, stateChanges };
}

const schemas = once(createSchemas);

/** Changes of the state, as the library and the admin API take them. @internal */
export const stateChangesSchema = () => schemas().stateChanges;

/** A duration in milliseconds, from text or a number of them. @internal */
export function millisecondsOf(given: string | number): number {
  return typeof given === 'number' ? given : parseDuration(given)!;
}

/** The end of what begins later. */
function readEnds(ends: EndsChange | undefined): Ends | undefined {
  if (!ends) return undefined;
  const { requests, after, signal } = ends;
  return { requests, signal, after: after === undefined ? undefined : millisecondsOf(after) };
}

/** The end of what begins now. */
function readBegunEnds(ends: EndsChange | undefined, now: number): Ends | undefined {
  const read = readEnds(ends);
  return read && begun(read, now);
}

/** The limits that can be changed while the service runs. */
export type RunningLimits = Pick<Limits, (typeof RUNNING_LIMITS)[number]>;

export function runningLimits(all: Limits): RunningLimits {
  return Object.fromEntries(RUNNING_LIMITS.map((name) => [name, all[name]])) as RunningLimits;
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

/** @internal */
export function requireOrganization({ state }: Pick<ChangedWorld, 'state'>, name: string): void {
  if (!state.organizations.get(name)) throw problem('bad_request', `There is no organization ${JSON.stringify(name)}.`);
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
      repository.update({ deployments: before!.withStatus(id, status, at, after !== undefined) });
    }
    if (state === undefined) return;
    world.background.syncs.cancel(repository);
    const isOwn = state === 'active' || state === 'archived';
    repository.update({ override: isOwn ? undefined : { state, ends: readBegunEnds(ends, now), retryAfter } });
    repository.restore();
    if (state === 'archived') repository.archive({ ends: readEnds(ends), retryAfter });
  };
}
