import { z } from 'zod';
import { problem } from '../http/problem.js';
import { empty, json } from '../http/reply.js';
import { isoTime } from '../time/iso-8601.js';
import type { CurrentWorld } from '../world/current-world.js';
import { MAX_SNAPSHOTS } from '../world/snapshots.js';
import { listOf, listQuery, writeList } from './lists.js';
import { adminRoute, requireFound } from './route.js';

const snapshotRecord = z.object({
  id: z.string(),
  taken_at: z.iso.datetime().meta({ description: 'Time on the clock of the emulator.' }),
  repositories: z.int(),
});

type KeptSnapshot = ReturnType<CurrentWorld['snapshots']>[number];

export type SnapshotRecord = z.infer<typeof snapshotRecord>;

function showSnapshot({ id, takenAt, repositories }: KeptSnapshot): SnapshotRecord {
  return { id, taken_at: isoTime(takenAt), repositories };
}

export const takeSnapshot = adminRoute({
  method: 'POST',
  path: '/snapshots',
  summary: 'Take a snapshot of the whole state',
  body: z.strictObject({}),
  replies: { 201: snapshotRecord },
  errors: ['insufficient_storage'],
  handle: ({ current }) => {
    if (!current.hasRoomForSnapshot)
      throw problem(
        'insufficient_storage',
        `Snapshot limit (${MAX_SNAPSHOTS}) reached. Remove one with DELETE /_emulator/snapshots/ID.`,
      );
    const id = current.snapshot();
    return json(201, showSnapshot(current.snapshots().find((kept) => kept.id === id)!));
  },
});

export const listSnapshots = adminRoute({
  path: '/snapshots',
  summary: 'List the snapshots, oldest first',
  query: z.strictObject(listQuery),
  replies: { 200: listOf(snapshotRecord) },
  handle: (ctx) => writeList(ctx, { of: ['snapshots'], items: ctx.current.snapshots(), show: showSnapshot }),
});

export const removeSnapshot = adminRoute({
  method: 'DELETE',
  path: '/snapshots/{id}',
  summary: 'Remove a snapshot, and free what nothing else references',
  replies: { 204: '' },
  handle: ({ current, params }) => {
    current.removeSnapshot(requireSnapshot(current, params.id!).id);
    return empty(204);
  },
});

export const restoreSnapshot = adminRoute({
  method: 'POST',
  path: '/snapshots/{id}/restore',
  summary: 'Restore the whole state from a snapshot',
  body: z.strictObject({}),
  replies: { 200: snapshotRecord },
  handle: async ({ current, params }) => {
    const kept = requireSnapshot(current, params.id!);
    await current.restore(kept.id);
    return json(200, showSnapshot(kept));
  },
});

function requireSnapshot(current: CurrentWorld, id: string): KeptSnapshot {
  return requireFound(
    current.snapshots().find((kept) => kept.id === id),
    'snapshot',
    id,
  );
}

export const reset = adminRoute({
  method: 'POST',
  path: '/reset',
  summary: 'Reset the whole state to what it was before the first request; snapshots stay',
  body: z.strictObject({}),
  replies: { 200: z.object({ status: z.literal('reset') }) },
  handle: async ({ current }) => {
    await current.reset();
    return json(200, { status: 'reset' });
  },
});
