import { z } from 'zod';
import { type Limits, RUNNING_LIMITS } from '../config/limits.js';
import { type Variants, variantRows } from '../config/variants.js';
import { problem } from '../http/problem.js';
import { lazy } from '../memory/lazy.js';
import { DEPLOYMENT_STATUSES, type DeploymentStatus } from '../repositories/deployments.js';
import { parseDuration } from '../time/iso-8601.js';

/** States of a repository that a test can set. `archived` stands for cold storage. */
const SETTABLE_STATES = ['active', 'archived', 'thawing', 'syncing', 'deleted', 'no_default_branch'] as const;

/** Repository states in which the response to a refused request has a `Retry-After` header. */
const WAITED_FOR: ReadonlySet<string | undefined> = new Set(['archived', 'thawing', 'syncing']);

/** Event that ends a state that a test has set. Exactly one member must be given. */
export interface ExpiryChange {
  /** Number of requests that are refused because of the state. The state ends after them. */
  readonly requests?: number | undefined;
  /**
   * Duration of the state on the clock of the emulated service: a text such as `PT30S` or `30s`, or milliseconds. The
   * duration of `archived` starts at the first refused request.
   */
  readonly after?: string | number | undefined;
  /**
   * Name of a latch, which is a barrier that a test releases through the admin API. The state ends when the latch is
   * released.
   */
  readonly signal?: string | undefined;
}

/** Changes of the state of an organization. Absent members stay unchanged. */
export interface OrganizationChanges {
  readonly authentication?: 'available' | 'unavailable' | undefined;
  readonly hosting?: 'on' | 'off' | undefined;
  readonly forgeApps?: number | undefined;
  readonly upstream?: 'reachable' | { readonly error: string; readonly status?: number | undefined } | undefined;
  readonly ends?: ExpiryChange | undefined;
}

/** Changes of the state of a repository. Absent members stay unchanged. */
export interface RepositoryChanges {
  readonly state?: (typeof SETTABLE_STATES)[number] | undefined;
  readonly ends?: ExpiryChange | undefined;
  /**
   * Number of seconds in the `Retry-After` header. The header is sent when a request is refused in the state
   * `archived`, `thawing` or `syncing`.
   */
  readonly retryAfter?: number | undefined;
  /**
   * Final statuses of deployments, by deployment id. `after` is the delay until the deployment gets the status: a text
   * such as `30s`, or milliseconds.
   */
  readonly deployments?:
    | Readonly<Record<string, { readonly status: DeploymentStatus; readonly after?: string | number | undefined }>>
    | undefined;
}

/**
 * Changes of the state of an emulated service. Organizations and repositories are given by name. Variants are switches
 * of the service's behaviour. Absent members stay unchanged.
 */
export interface StateChanges {
  readonly organizations?: Readonly<Record<string, OrganizationChanges>> | undefined;
  readonly repositories?: Readonly<Record<string, RepositoryChanges>> | undefined;
  readonly limits?: { readonly [Name in keyof RunningLimits]?: number | undefined } | undefined;
  readonly variants?: Partial<Variants> | undefined;
}

/**
 * Maximum number of organizations and of repositories in one change, and of deployments of one repository. The numbers
 * are limited, because a change is validated without yielding to other requests.
 */
const MAX_CHANGED = 1000;

/**
 * Schema of state changes, for the library and the admin API. It is created on first use, because most processes never
 * change a state. @internal
 */
export const stateChangesSchema = lazy(() => {
  const limited = { maxProperties: MAX_CHANGED };
  const duration = z.union([
    z.string().refine((text) => parseDuration(text) !== undefined, 'must be a duration such as PT30S or 30s'),
    z.int().min(0),
  ]);

  /** Schema of the event that ends a state. Exactly one member must be given. */
  const endsOf = z
    .strictObject({
      requests: z.int().min(1).max(1_000_000_000),
      after: duration,
      signal: z.string().regex(/^[\w.-]{1,100}$/, 'must be the name of a latch: letters, digits, ".", "-" and "_"'),
    })
    .partial()
    .refine((ends) => Object.keys(ends).length === 1, 'must have exactly one of requests, after and signal');

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
      message: 'is allowed only together with a state: archived, thawing, syncing, deleted or no_default_branch',
    })
    .refine(({ state, retryAfter }) => retryAfter === undefined || WAITED_FOR.has(state), {
      path: ['retryAfter'],
      message: 'is allowed only with the states archived, thawing and syncing',
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

  return z
    .strictObject({
      organizations: z.record(z.string(), organization).meta(limited),
      repositories: z.record(z.string(), repository).meta(limited),
      limits,
      variants,
    })
    .partial();
});

/**
 * Converts a validated duration to milliseconds. The duration is a text such as `PT30S` or a number of milliseconds.
 * @internal
 */
export function millisecondsOf(given: string | number): number {
  return typeof given === 'number' ? given : parseDuration(given)!;
}

/** Limits of the service that a test can change while the service runs. */
export type RunningLimits = Pick<Limits, (typeof RUNNING_LIMITS)[number]>;

/** Selects the limits that can be changed while the service runs. */
export function runningLimits(all: Limits): RunningLimits {
  return Object.fromEntries(RUNNING_LIMITS.map((name) => [name, all[name]])) as RunningLimits;
}

interface WithOrganizations {
  readonly state: { readonly organizations: { get(name: string): unknown } };
}

/** @internal */
export function requireOrganization({ state }: WithOrganizations, name: string): void {
  if (!state.organizations.get(name))
    throw problem('bad_request', `The organization ${JSON.stringify(name)} does not exist.`);
}
