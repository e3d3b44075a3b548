import { z } from 'zod';
import { DEFAULT_LIMITS, type Limits, RUNNING_LIMITS } from '../config/limits.js';
import { type Variants, variantRows } from '../config/variants.js';
import type { Ends } from '../environment/ends.js';
import { parseDuration } from '../environment/iso-8601.js';
import { DEPLOYMENT_STATUSES } from '../repositories/deployments.js';

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

/** What a repository can be told to be. */
const SETTABLE_STATES = ['active', 'archived', 'thawing', 'syncing', 'deleted', 'no_default_branch'] as const;

const repository = z
  .strictObject({
    state: z.enum(SETTABLE_STATES),
    ends: endsOf,
    retryAfter: z.int().min(0).max(1_000_000_000),
    deployments: z.record(z.string(), deployment),
  })
  .partial()
  .refine(({ state, ends }) => ends === undefined || (state !== undefined && !isLasting(state)), {
    path: ['ends'],
    message: 'goes with a state that is set: thawing, syncing, deleted or no_default_branch',
  })
  .refine(({ state, retryAfter }) => retryAfter === undefined || state === 'thawing' || state === 'syncing', {
    path: ['retryAfter'],
    message: 'goes with the states thawing and syncing',
  });

/** What ends by itself, or never. */
export function isLasting(state: (typeof SETTABLE_STATES)[number]): state is 'active' | 'archived' {
  return state === 'active' || state === 'archived';
}

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

/** Changes of the state, as the library and the admin API take them. */
export const stateChanges = z
  .strictObject({
    organizations: z.record(z.string(), organization),
    repositories: z.record(z.string(), repository),
    limits,
    variants,
  })
  .partial();

/** What is absent stays as it is. */
export type StateChanges = z.input<typeof stateChanges>;
export type OrganizationChanges = z.input<typeof organization>;
export type RepositoryChanges = z.input<typeof repository>;
export type EndsChange = z.input<typeof endsOf>;

/** A duration in milliseconds, from text or a number of them. */
export function millisecondsOf(given: string | number): number {
  return typeof given === 'number' ? given : parseDuration(given)!;
}

export function readEnds(ends: EndsChange | undefined, now: number): Ends | undefined {
  if (!ends) return undefined;
  const { requests, after, signal } = ends;
  return { requests, signal, at: after === undefined ? undefined : now + millisecondsOf(after) };
}

/** The limits that can be changed while the service runs. */
export type RunningLimits = Pick<Limits, (typeof RUNNING_LIMITS)[number]>;

export function runningLimits(all: Limits): RunningLimits {
  return Object.fromEntries(RUNNING_LIMITS.map((name) => [name, all[name] ?? DEFAULT_LIMITS[name]])) as RunningLimits;
}
