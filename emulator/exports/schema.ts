import { z } from 'zod';
import { SCOPES } from '../auth/scope.js';
import { lazy } from '../memory/lazy.js';
import { DEPLOYMENT_STATUSES } from '../repositories/deployments.js';
import { hostingSettings } from '../repositories/hosting.js';
import { CLOCK_MODES } from '../time/clock.js';
import { MAX_DELIVERIES } from '../webhooks/delivery.js';
import { EVENT_NAMES } from '../webhooks/events.js';

/** Values of `format` and `version` in `emulator.json`, the manifest of a saved state. */
export const FORMAT = 'repohost-emulator';
export const VERSION = 1;

const count = () => z.int().min(0);
const time = () => z.int().min(-8.64e15).max(8.64e15);
const oid = () => z.string().regex(/^[0-9a-f]{40}$/, 'must be an object id of 40 lower-case hexadecimal digits');
const ends = () =>
  z.strictObject({
    requests: count().optional(),
    at: time().optional(),
    after: count().optional(),
    signal: z.string().optional(),
  });
const switches = () => ({
  authenticationAvailable: z.boolean(),
  hostingEnabled: z.boolean(),
  forgeApps: count(),
  upstreamFailure: z.strictObject({ message: z.string(), status: z.int().optional() }).optional(),
});

const organization = () =>
  z.strictObject({
    name: z.string(),
    keys: z.array(
      z.strictObject({
        id: z.string().min(1).max(200),
        allowed_scopes: z.union([z.tuple([z.literal('*')]), z.array(z.enum(SCOPES)).min(1)]),
        /** Public key as PEM text; absent for a test key that every emulator knows. */
        public_key: z.string().optional(),
      }),
    ),
    ...switches(),
    temporary: z.strictObject({ ends: ends(), after: z.strictObject(switches()) }).optional(),
  });

const quota = () =>
  z.strictObject({
    name: z.string(),
    by: z.array(z.enum(['org', 'token', 'key', 'repo', 'op'])),
    cost: z.array(z.tuple([z.string(), z.number().min(0)])),
    retryAfter: z.strictObject({ add: z.number(), format: z.enum(['seconds', 'http-date', 'omit']) }),
    capacity: z.number().positive(),
    tokens: z.number().positive(),
    milliseconds: z.number().positive(),
  });

const webhook = () =>
  z.strictObject({
    id: z.string().min(1),
    organization: z.string(),
    url: z.string().max(2048).refine(isPlainUrl, 'must be an http or https URL, without user name and password'),
    events: z.array(z.enum(EVENT_NAMES)),
    secret: z.string().optional(),
    createdAt: time(),
  });

/** Delivery of an event to the URL of a webhook. Its body is the JSON text, exactly as sent. */
const delivery = () =>
  z.strictObject({
    id: z.string().min(1),
    webhook: webhook(),
    event: z.enum(EVENT_NAMES),
    repositoryId: z.string().optional(),
    resendOf: z.string().optional(),
    body: z.string(),
    state: z.enum(['pending', 'delivered', 'failed', 'canceled']),
    attempts: z.array(z.strictObject({ at: time(), status: z.int().optional(), error: z.string().optional() })),
    next_attempt_at: time().optional(),
  });

function isPlainUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

const worldPart = () =>
  z.strictObject({
    clock: z.strictObject({ mode: z.enum(CLOCK_MODES), time: time(), ahead: z.number() }),
    ids: z.record(z.string(), count()),
    requests: count(),
    conversations: count(),
    settings: z.strictObject({ limits: z.record(z.string(), count()), variants: z.record(z.string(), z.unknown()) }),
    organizations: z.array(organization()).max(10_000),
    quotas: z.strictObject({
      quotas: z.array(quota()),
      buckets: z.array(z.tuple([z.string(), z.strictObject({ level: z.number(), at: time() })])),
    }),
    webhooks: z.array(webhook()),
    /** Pending and ended webhook deliveries, oldest first. */
    deliveries: z.array(delivery()).max(MAX_DELIVERIES).default([]),
    /** Ids of the deliveries that have ended, in the order in which they ended. */
    deliveries_ended: z.array(z.string()).default([]),
    searches: z.array(z.string()),
    created: count(),
  });

const listed = () =>
  z.strictObject({
    organization: z.string(),
    name: z.string(),
    id: z.string().min(1).max(200),
    sequence: z.int().min(1),
    created_at: time(),
    /** Path of the repository's folder, relative to the folder of `emulator.json`. Absent for a deleted repository. */
    folder: z.string().optional(),
    record: z.string().optional(),
  });

const head = () => ({ format: z.literal(FORMAT), version: z.literal(VERSION), written_by: z.string() });

/**
 * Schema of `emulator.json`, the manifest of a saved state. The content `world` has all repositories, and all state
 * outside of them. The content `repository` is a single repository.
 */
export const manifestSchema = lazy(() =>
  z.discriminatedUnion('content', [
    z.strictObject({
      ...head(),
      content: z.literal('world'),
      secrets: z.boolean(),
      world: worldPart(),
      repositories: z.array(listed()),
    }),
    z.strictObject({
      ...head(),
      content: z.literal('repository'),
      /** Organization that receives the repository. Default: the one in the import request. */
      organization: z.string().optional(),
      name: z.string(),
      /** `history` imports the repository with its commits. `files` imports the files of HEAD as one new commit. */
      as: z.enum(['history', 'files']),
      folder: z.string(),
    }),
  ]),
);
export type Manifest = z.infer<ReturnType<typeof manifestSchema>>;
export type WorldManifest = Extract<Manifest, { content: 'world' }>;
export type ListedRepository = WorldManifest['repositories'][number];

/** Converts the names of hosting settings from the API to an export: `project_name` → `projectName`. */
export function camelCased<Value>(settings: Readonly<Record<string, Value>>): Record<string, Value> {
  const rename = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [rename(name), value]));
}

/** Converts the names of hosting settings from an export to the API: `projectName` → `project_name`. */
export function snakeCased<Value>(settings: Readonly<Record<string, Value>>): Record<string, Value> {
  const rename = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [rename(name), value]));
}

/** Schema of a record file: the state of one repository without its objects. */
export const recordSchema = lazy(() =>
  z.strictObject({
    state: z.enum(['active', 'archived', 'thawing']),
    override: z
      .strictObject({
        state: z.enum(['active', 'deleted', 'thawing', 'syncing', 'no_default_branch']),
        ends: ends().optional(),
        retryAfter: z.number().optional(),
      })
      .optional(),
    thaw: z.strictObject({ ends: ends().optional(), retryAfter: z.number().optional() }).optional(),
    head: z.union([z.strictObject({ symref: z.string() }), z.strictObject({ oid: oid() })]),
    /** Refs. Each has its name, its object id, and its creation time in milliseconds since 1970. */
    refs: z.array(z.tuple([z.string(), oid(), time()])),
    packs: z.array(z.string().regex(/^pack-[0-9a-f]{40}\.pack$/)),
    base_repo: z
      .strictObject({
        provider: z.string(),
        owner: z.string(),
        name: z.string(),
        host: z.string().optional(),
        access: z.enum(['app', 'public', 'credential']),
        runs: count(),
        lastSync: z.strictObject({ startedAt: time(), completedAt: time(), error: z.string().optional() }).optional(),
      })
      .optional(),
    credential: z
      .strictObject({ id: z.string(), username: z.string().optional(), password: z.string(), createdAt: time() })
      .optional(),
    hosting: z
      .strictObject({ ...camelCased(hostingSettings().shape), env: z.record(z.string(), z.string()).optional() })
      .optional(),
    deployments: z
      .strictObject({
        items: z.array(
          z.strictObject({
            id: z.string(),
            sequence: z.int().min(1),
            target: z.enum(['preview', 'production']),
            ref: z.string(),
            commit: oid(),
            createdAt: time(),
            statuses: z.array(z.strictObject({ status: z.enum(DEPLOYMENT_STATUSES), at: time() })).optional(),
          }),
        ),
        keys: z.array(z.strictObject({ key: z.string(), request: z.string(), id: z.string() })),
      })
      .optional(),
    lfs_objects: z.array(z.strictObject({ oid: z.string().regex(/^[0-9a-f]{64}$/), size: count(), stored_at: time() })),
    lfs_locks: z.array(z.strictObject({ id: z.string(), path: z.string(), owner: z.string(), lockedAt: time() })),
  }),
);
export type RepositoryFile = z.infer<ReturnType<typeof recordSchema>>;
