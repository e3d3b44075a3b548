import { z } from 'zod';
import type { Conflict } from '../../git/merge/conflict.js';
import type { CommitMerge } from '../../git/merge/merge.js';
import { OverlayObjects } from '../../git/merge/overlay.js';
import { planMerge } from '../../git/merge/plan.js';
import { isBinary } from '../../git/object/binary.js';
import { textOf } from '../../git/object/bytes.js';
import { BLOB, type ObjectReader, type Oid } from '../../git/object/object.js';
import { findEntry } from '../../git/object/read-tree.js';
import { largeJson } from '../../http/reply.js';
import { once } from '../../memory/once.js';
import type { HandlerContext } from '../../operation/handler-context.js';
import { operation, routesOfRepository } from '../../operation/operation.js';
import type { Meter } from '../../schedule/meter.js';
import { inSlices, runSync } from '../../schedule/steps.js';
import { flag } from '../fields.js';
import { tipOf } from './branches.js';
import { conflictPaths, mergeSides } from './merge.js';

/** Conflicts beyond these are named, and not shown. */
const MOST_CONFLICTS = 100;
/** Bytes of one side that are shown. */
const MOST_CONTENT_BYTES = 256 * 1024;

const side = once(() =>
  z.object({
    oid: z.string().optional(),
    content: z.string().optional(),
    truncated: z.boolean(),
    binary: z.boolean(),
  }),
);
/** With the content as bytes, which become text piece by piece. */
type Side = Omit<z.infer<ReturnType<typeof side>>, 'content'> & { readonly content?: Buffer };

interface ShownConflict {
  readonly path: string;
  readonly result: Side;
  readonly base: Side;
  readonly ours: Side;
  readonly theirs: Side;
}

export const mergePreview = operation({
  group: 'Branches',
  summary: 'Show what a merge would do',
  routes: routesOfRepository('GET', 'merge/preview'),
  query: () =>
    z.object({
      source_branch: z.string(),
      target_branch: z.string(),
      include_content: flag().optional(),
      source_is_ephemeral: flag().optional(),
      target_is_ephemeral: flag().optional(),
    }),
  replies: () => ({
    200: z.object({
      status: z.enum(['clean', 'conflicted']),
      result: z.enum(['merge_commit', 'fast_forward', 'no_op']),
      source_branch: z.string(),
      target_branch: z.string(),
      source_tip_sha: z.string(),
      target_tip_sha: z.string(),
      merge_base_sha: z.string().optional(),
      conflict_paths: z.array(z.string()),
      conflicts: z.array(z.object({ path: z.string(), result: side(), base: side(), ours: side(), theirs: side() })),
      filtered_conflicts: z.array(z.object({ path: z.string(), reason: z.string(), binary: z.boolean() })),
    }),
  }),
  errors: ['branch_not_found', 'gateway_timeout'],
  work: { limit: 'searchTimeout', times: 5 },
  handle: async (ctx) => {
    const { repository, query } = ctx;
    const { history } = repository.git;
    const source = tipOf(repository, query.source_branch, query.source_is_ephemeral);
    const target = tipOf(repository, query.target_branch, query.target_is_ephemeral);
    await history.extend([source, target], ctx.meter);
    const plan = planMerge(history, target, source);
    const sides = { source, target, sourceName: query.source_branch };
    const shown =
      plan === 'merge_commit'
        ? await preview(ctx, sides, query.target_branch, query.include_content ?? false)
        : { conflict_paths: [], conflicts: [], filtered_conflicts: [] };
    const [mergeBase] = history.mergeBases(target, source);
    return largeJson(200, {
      status: shown.conflict_paths.length > 0 ? 'conflicted' : 'clean',
      result: plan,
      source_branch: query.source_branch,
      target_branch: query.target_branch,
      source_tip_sha: source,
      target_tip_sha: target,
      ...(mergeBase === undefined ? {} : { merge_base_sha: mergeBase }),
      ...shown,
    });
  },
});

/** Merges over the repository's objects and beside them: nothing of a preview is ever stored, and no writer waits. */
async function preview(
  ctx: Pick<HandlerContext, 'repository' | 'meter'>,
  sides: { source: Oid; target: Oid; sourceName: string },
  targetName: string,
  includeContent: boolean,
) {
  const objects = new OverlayObjects(ctx.repository.git.objects);
  const merged = await mergeSides(ctx, objects, sides, targetName);
  return showConflicts(objects, merged, includeContent, ctx.meter);
}

async function showConflicts(objects: ObjectReader, merged: CommitMerge, includeContent: boolean, meter: Meter) {
  const { tree, conflicts } = merged;
  const show = (oid: Oid | undefined) => showSide(objects, oid, includeContent, meter);
  const shown: ShownConflict[] = [];
  for (const { path, base, ours, theirs } of conflicts.slice(0, MOST_CONFLICTS)) {
    shown.push({
      path: textOf(path),
      result: await show(runSync(findEntry(objects, tree, path))?.oid),
      base: await show(base?.oid),
      ours: await show(ours?.oid),
      theirs: await show(theirs?.oid),
    });
    if (meter.isOver) await meter.pass();
  }
  const filtered: { path: string; reason: string; binary: boolean }[] = [];
  for (const conflict of conflicts.slice(MOST_CONFLICTS)) {
    let binary = false;
    for (const oid of versionsOf(conflict)) binary ||= (await showSide(objects, oid, false, meter)).binary;
    filtered.push({ path: textOf(conflict.path), reason: 'max_conflict_files_exceeded', binary });
    if (meter.isOver) await meter.pass();
  }
  return {
    conflict_paths: merged.isClean ? [] : conflictPaths(merged),
    conflicts: shown,
    filtered_conflicts: filtered,
  };
}

function versionsOf({ base, ours, theirs }: Conflict): (Oid | undefined)[] {
  return [base?.oid, ours?.oid, theirs?.oid];
}

/** One version of a conflicted file. What is no stored blob, such as a submodule's commit, has its id only. */
async function showSide(
  objects: ObjectReader,
  oid: Oid | undefined,
  includeContent: boolean,
  meter: Meter,
): Promise<Side> {
  if (oid === undefined) return { truncated: false, binary: false };
  const number = objects.find(oid);
  if (number < 0 || objects.typeOf(number) !== BLOB) return { oid, truncated: false, binary: false };
  const body = await inSlices(objects.readSteps(number), meter);
  const binary = isBinary(body);
  if (binary || !includeContent) return { oid, truncated: false, binary };
  const truncated = body.length > MOST_CONTENT_BYTES;
  return { oid, content: body.subarray(0, MOST_CONTENT_BYTES), truncated, binary };
}
