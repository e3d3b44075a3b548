import { z } from 'zod';
import { deploymentRecord, showDeployment } from '../api/operations/deployments.js';
import { pageEnd } from '../api/paging.js';
import { json } from '../http/reply.js';
import { NO_DEPLOYMENTS } from '../repositories/deployments.js';
import { hostingSettings } from '../repositories/hosting.js';
import { NO_LOCKS } from '../repositories/lfs-locks.js';
import { NO_LFS_OBJECTS } from '../repositories/lfs-objects.js';
import type { BaseRepository, FinishedSync } from '../repositories/repository.js';
import { isoTime } from '../time/iso-8601.js';
import { listOf, listQuery, writeList } from './lists.js';
import { findRepository, inOrganization } from './repository-records.js';
import { adminRoute } from './route.js';

/** Routes that show what a repository has besides Git objects and refs: deployments, Git LFS, and its upstream. */

const deploymentList = z.object({
  items: z.array(deploymentRecord()),
  project: hostingSettings().nullable().meta({
    description: 'Settings of the hosting project, without its environment variables; null if there is none.',
  }),
  ...pageEnd(),
});

export type DeploymentRecord = z.infer<ReturnType<typeof deploymentRecord>>;
export type DeploymentList = z.infer<typeof deploymentList>;

export const showDeployments = adminRoute({
  path: '/repositories/{name}/deployments',
  summary: 'List the deployments of a repository, newest first, and show its hosting project',
  query: z.strictObject({ ...listQuery, ...inOrganization }),
  replies: { 200: deploymentList },
  handle: (ctx) => {
    const { id, record } = findRepository(ctx);
    const { deployments = NO_DEPLOYMENTS, hosting } = record;
    const now = ctx.world.state.clock.now();
    // Environment variables are omitted, because they may be secret.
    const { env: _, ...project } = hosting ?? { env: undefined };
    return writeList(ctx, {
      of: ['deployments', id],
      items: deployments.reversed(),
      show: (deployment) => showDeployment(deployment, now),
      more: { project: hosting ? project : null },
    });
  },
});

const lfsObject = z.object({ oid: z.string(), size: z.int(), stored_at: z.iso.datetime() });

const lfsObjectList = z.object({
  items: z.array(lfsObject),
  total: z.int().meta({ description: 'Number of objects in the whole list.' }),
  total_bytes: z.int().meta({ description: 'Size of all objects together, in bytes.' }),
  ...pageEnd(),
});

export type LfsObjectRecord = z.infer<typeof lfsObject>;
export type LfsObjectList = z.infer<typeof lfsObjectList>;

export const showLfsObjects = adminRoute({
  path: '/repositories/{name}/lfs/objects',
  summary: 'List the Git LFS objects of a repository, newest first',
  query: z.strictObject({ ...listQuery, ...inOrganization }),
  replies: { 200: lfsObjectList },
  handle: (ctx) => {
    const { id, record } = findRepository(ctx);
    const objects = [...(record.lfsObjects ?? NO_LFS_OBJECTS).entries()];
    return writeList(ctx, {
      of: ['lfs objects', id],
      items: objects.sort(([, one], [, other]) => other.storedAt - one.storedAt),
      keyOf: ([oid]) => oid,
      show: ([oid, { size, storedAt }]) => ({ oid, size, stored_at: isoTime(storedAt) }),
      more: { total: objects.length, total_bytes: objects.reduce((sum, [, { size }]) => sum + size, 0) },
    });
  },
});

const lfsLock = z.object({ id: z.string(), path: z.string(), owner: z.string(), locked_at: z.iso.datetime() });

export type LfsLockRecord = z.infer<typeof lfsLock>;

export const showLfsLocks = adminRoute({
  path: '/repositories/{name}/lfs/locks',
  summary: 'List the Git LFS locks of a repository by path',
  query: z.strictObject({ ...listQuery, ...inOrganization }),
  replies: { 200: listOf(lfsLock) },
  handle: (ctx) => {
    const { id, record } = findRepository(ctx);
    return writeList(ctx, {
      of: ['lfs locks', id],
      items: (record.lfsLocks ?? NO_LOCKS).list(),
      show: ({ lockedAt, ...lock }) => ({ ...lock, locked_at: isoTime(lockedAt) }),
    });
  },
});

const syncRecord = z.object({
  upstream: z
    .object({
      provider: z.string(),
      owner: z.string(),
      name: z.string(),
      host: z.string().optional(),
      access: z.enum(['app', 'public', 'credential']),
    })
    .nullable()
    .meta({ description: 'Repository from which this repository is synchronized; null if there is none.' }),
  runs: z.int().meta({ description: 'Number of finished syncs, including failed ones.' }),
  running_since: z.iso
    .datetime()
    .nullable()
    .meta({ description: 'Start of the running sync; null if none is running.' }),
  last: z
    .object({
      outcome: z.enum(['succeeded', 'failed']),
      started_at: z.iso.datetime(),
      completed_at: z.iso.datetime(),
      error: z.string().optional(),
    })
    .nullable()
    .meta({ description: 'Sync that finished last; null if none has finished.' }),
});

export type SyncRecord = z.infer<typeof syncRecord>;

export const showSync = adminRoute({
  path: '/repositories/{name}/sync',
  summary: 'Show the upstream of a repository, its running sync, and the sync that finished last',
  query: z.strictObject(inOrganization),
  replies: { 200: syncRecord },
  handle: (ctx) => {
    const repository = findRepository(ctx);
    const { baseRepo } = repository.record;
    const since = ctx.world.background.syncs.runningSince(repository);
    const record: SyncRecord = {
      upstream: baseRepo ? showUpstream(baseRepo) : null,
      runs: baseRepo?.runs ?? 0,
      running_since: since === undefined ? null : isoTime(since),
      last: baseRepo?.lastSync ? showFinished(baseRepo.lastSync) : null,
    };
    return json(200, record);
  },
});

function showUpstream({ provider, owner, name, host, access }: BaseRepository): SyncRecord['upstream'] {
  return { provider, owner, name, ...(host !== undefined && { host }), access };
}

function showFinished({ startedAt, completedAt, error }: FinishedSync): SyncRecord['last'] {
  return {
    outcome: error === undefined ? 'succeeded' : 'failed',
    started_at: isoTime(startedAt),
    completed_at: isoTime(completedAt),
    ...(error !== undefined && { error }),
  };
}
