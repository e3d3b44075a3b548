import { z } from 'zod';
import type { Conflict } from '../../git/merge/conflict.js';
import { type CommitMerge, mergeCommits } from '../../git/merge/merge.js';
import { OverlayObjects } from '../../git/merge/overlay.js';
import { applyStrategy, type MergePlan, planMerge } from '../../git/merge/plan.js';
import { isBinary } from '../../git/object/binary.js';
import { type ByteString, bytesOf, textOf } from '../../git/object/bytes.js';
import { BLOB, type ObjectReader, type Oid } from '../../git/object/object.js';
import { findEntry } from '../../git/object/read-tree.js';
import type { ObjectDatabase } from '../../git/object/tree-edit.js';
import type { RefTransaction } from '../../git/refs/transaction.js';
import { problem } from '../../http/problem.js';
import { json, largeJson } from '../../http/reply.js';
import { lazy } from '../../memory/lazy.js';
import { type HandlerContext, operationsOf, routesOfRepository } from '../../operation/operation.js';
import { branchRef, type CommitWritten, commitTo, transact } from '../../repositories/branch-write.js';
import type { Meter } from '../../schedule/meter.js';
import { runSync, runYielding } from '../../schedule/steps.js';
import { flag, person, readBranch, readIdentity, readMessage, sha } from '../fields.js';
import { ofCommit } from '../named-git-data.js';
import { requireAllowed, requireCommitAllowed } from '../policy.js';
import { resolveRef } from '../resolve.js';
import { branchNotFound, tipOf } from './branches.js';

const operation = operationsOf('Branches');

const mergeBody = lazy(() =>
  z.object({
    source_branch: z.string().optional(),
    source_ref: z.string().optional(),
    target_branch: z.string(),
    strategy: z.enum(['merge', 'ff_only', 'ff_prefer']),
    source_is_ephemeral: z.boolean().optional(),
    target_is_ephemeral: z.boolean().optional(),
    expected_target_sha: sha().optional(),
    commit_message: z.string().optional(),
    author: person().optional(),
    committer: person().optional(),
    allow_unrelated_histories: z.boolean().optional(),
    squash: z.boolean().optional(),
  }),
);
type MergeBody = z.infer<ReturnType<typeof mergeBody>>;
type MergeContext = HandlerContext<unknown, MergeBody>;

/** Merge request whose branch names have been resolved to commits. */
interface Merge {
  readonly transaction: RefTransaction;
  readonly sourceName: string;
  readonly source: Oid;
  readonly targetRef: ByteString;
  readonly target: Oid;
}

interface Merged {
  readonly result: MergePlan | 'squash';
  readonly commit: Oid;
  readonly tree: Oid;
}

export const merge = operation({
  summary: 'Merge a branch into another',
  routes: routesOfRepository('POST', 'merge'),
  body: mergeBody,
  names: ofCommit(''),
  // The CPU time limit is five times the limit of a search, because a merge compares three trees and their histories.
  work: { limit: 'searchTimeout', times: 5 },
  replies: () => ({
    200: z.object({
      result: z.enum(['merge_commit', 'fast_forward', 'no_op', 'squash', 'unknown']),
      commit_sha: z.string(),
      tree_sha: z.string(),
      source: z.object({ branch: z.string(), ref: z.string(), ephemeral: z.boolean(), sha: z.string() }),
      target: z.object({ branch: z.string(), ephemeral: z.boolean(), old_sha: z.string(), new_sha: z.string() }),
      merge_base_sha: z.string().optional(),
      promoted_commits: z.int(),
    }),
  }),
  errors: ['branch_not_found', 'ref_not_found', 'conflict', 'merge_conflict', 'gateway_timeout'],
  handle: async (ctx) => {
    const { repository, body } = ctx;
    const { git } = repository;
    if (body.squash && body.strategy === 'ff_only') {
      throw problem(
        'bad_request',
        'A squash merge cannot be combined with ff_only, because it always creates a commit.',
      );
    }
    const sourceName = body.source_ref ?? body.source_branch ?? '';
    if (sourceName === '') throw problem('bad_request', 'source_ref is required: the branch, tag or commit to merge.');
    const targetRef = branchRef(readBranch(body.target_branch, 'target_branch'), body.target_is_ephemeral ?? false);
    requireAllowed(ctx, targetRef);
    const source = await resolveSource(ctx, sourceName);
    return transact(repository, async (transaction) => {
      const target = git.refs.get(targetRef);
      if (target === undefined) throw branchNotFound(body.target_branch);
      if (body.expected_target_sha !== undefined && body.expected_target_sha !== target) {
        throw problem(
          'conflict',
          `Branch ${body.target_branch} is at ${target}, not at the expected ${body.expected_target_sha}.`,
        );
      }
      await git.history.extend([source, target], ctx.meter);
      const merge = { transaction, sourceName, source, targetRef, target };
      const { result, commit, tree } = await carryOut(ctx, merge);
      const [mergeBase] = git.history.mergeBases(target, source);
      return json(200, {
        result,
        commit_sha: commit,
        tree_sha: tree,
        source: { branch: sourceName, ref: sourceName, ephemeral: body.source_is_ephemeral ?? false, sha: source },
        target: {
          branch: body.target_branch,
          ephemeral: body.target_is_ephemeral ?? false,
          old_sha: target,
          new_sha: commit,
        },
        ...(mergeBase === undefined ? {} : { merge_base_sha: mergeBase }),
        promoted_commits: git.history.aheadBehind(source, target).ahead,
      });
    });
  },
});

async function resolveSource(ctx: MergeContext, name: string): Promise<Oid> {
  const { repository, body } = ctx;
  const ephemeral = body.source_is_ephemeral ?? false;
  if (body.source_ref !== undefined) return (await resolveRef(ctx, { ref: name, ephemeral })).commit;
  return tipOf(repository, name, ephemeral, 'source_branch');
}

/**
 * Carries out the merge. Moves the target branch (fast-forward), or writes a merge or squash commit. Does nothing if
 * the target already contains the source.
 */
async function carryOut(ctx: MergeContext, merge: Merge): Promise<Merged> {
  const { repository, body } = ctx;
  const { git } = repository;
  const plan = planMerge(git.history, merge.target, merge.source);
  const treeOf = (commit: Oid) => git.history.commit(commit).tree;
  if (plan === 'no_op') return { result: 'no_op', commit: merge.target, tree: treeOf(merge.target) };
  if (body.squash) return { result: 'squash', ...(await writeMerge(ctx, merge, plan, [merge.target])) };
  const chosen = applyStrategy(plan, body.strategy);
  if (chosen === undefined) {
    throw problem(
      'conflict',
      `Branch ${body.target_branch} has commits that ${merge.sourceName} lacks, so ff_only cannot move it.`,
    );
  }
  if (chosen === 'merge_commit') {
    return { result: chosen, ...(await writeMerge(ctx, merge, plan, [merge.target, merge.source])) };
  }
  merge.transaction.update({ name: merge.targetRef, old: merge.target, new: merge.source });
  return { result: chosen, commit: merge.source, tree: treeOf(merge.source) };
}

async function writeMerge(
  ctx: MergeContext,
  merge: Merge,
  plan: MergePlan,
  parents: readonly Oid[],
): Promise<CommitWritten> {
  const { repository, body, world } = ctx;
  requireCommitAllowed(ctx, merge.targetRef);
  if (body.author === undefined)
    throw problem('bad_request', 'author is required, because the merge creates a commit.');
  if (body.commit_message === undefined) {
    throw problem('bad_request', 'commit_message is required, because the merge creates a commit.');
  }
  const author = readIdentity(body.author, 'author', world.state.clock.now());
  const committer = body.committer ? readIdentity(body.committer, 'committer', world.state.clock.now()) : author;
  const message = readMessage(body.commit_message, 'commit_message');
  // If the source contains the target, the result is the tree of the source. Otherwise the two trees must be merged.
  const isContained = plan === 'fast_forward';
  const tree = isContained ? repository.git.history.commit(merge.source).tree : await mergeTree(ctx, merge);
  return commitTo(merge.transaction, {
    ref: merge.targetRef,
    old: merge.target,
    parents,
    tree,
    author,
    committer,
    message,
  });
}

/**
 * Merges the trees of both branches and returns the id of the merged tree. Throws `conflict` for unrelated histories,
 * and `merge_conflict` for conflicting changes.
 */
async function mergeTree(ctx: MergeContext, merge: Merge): Promise<Oid> {
  const { body } = ctx;
  const merged = await mergeSides(ctx, merge.transaction.objects, merge, body.target_branch);
  if (merged.bases.length === 0 && !body.allow_unrelated_histories) {
    throw problem(
      'conflict',
      'Source and target have no common ancestor. Set allow_unrelated_histories to true to merge them.',
    );
  }
  if (!merged.isClean) throw mergeConflict(merged);
  return merged.tree;
}

/**
 * Returns the paths in conflict after a merge. A conflict about the target of a folder rename has no path of its own.
 * If there is no other conflict, the paths in its message are returned.
 */
export function conflictPaths({ conflicts, messages }: CommitMerge): string[] {
  const paths = conflicts.length > 0 ? conflicts.map(({ path }) => path) : messages.flatMap((message) => message.paths);
  return [...new Set(paths)].map(textOf);
}

function mergeConflict(merged: CommitMerge) {
  const paths = conflictPaths(merged);
  return problem(
    'merge_conflict',
    `Source and target changed the same parts of these files: ${paths.slice(0, 10).join(', ')}.`,
    {
      extra: { conflict_paths: paths, merge_base_sha: merged.bases[0] ?? null },
    },
  );
}

/**
 * Merges the trees of two commits. New objects are written to `objects`. The branch names become the labels in conflict
 * markers.
 */
export function mergeSides(
  { repository, meter }: Pick<HandlerContext, 'repository' | 'meter'>,
  objects: ObjectDatabase,
  sides: { readonly target: Oid; readonly source: Oid; readonly sourceName: string },
  targetName: string,
): Promise<CommitMerge> {
  return mergeCommits(objects, repository.git.history, sides.target, sides.source, {
    ours: bytesOf(targetName),
    theirs: bytesOf(sides.sourceName),
    meter,
  });
}

/** Maximum number of conflicting files whose versions a preview shows. For further files, only the path is shown. */
const MAX_CONFLICTS = 100;
/** Maximum size of one version of a conflicting file in the response, in bytes. Longer versions are truncated. */
const MAX_CONTENT_BYTES = 256 * 1024;

const side = lazy(() =>
  z.object({
    oid: z.string().optional(),
    content: z.string().optional(),
    truncated: z.boolean(),
    binary: z.boolean(),
  }),
);
/**
 * Version of a conflicting file as the handler returns it. The content is a buffer, which the response writer encodes
 * as text piece by piece.
 */
type Side = Omit<z.infer<ReturnType<typeof side>>, 'content'> & { readonly content?: Buffer };

interface ShownConflict {
  readonly path: string;
  readonly result: Side;
  readonly base: Side;
  readonly ours: Side;
  readonly theirs: Side;
}

export const mergePreview = operation({
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

/**
 * Merges two branches for a preview. New objects go to a temporary overlay over the repository's objects. So nothing is
 * stored, and no writer must wait.
 */
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
  for (const { path, base, ours, theirs } of conflicts.slice(0, MAX_CONFLICTS)) {
    shown.push({
      path: textOf(path),
      result: await show(runSync(findEntry(objects, tree, path))?.oid),
      base: await show(base?.oid),
      ours: await show(ours?.oid),
      theirs: await show(theirs?.oid),
    });
    if (meter.shouldYield) await meter.yieldToEventLoop();
  }
  const filtered: { path: string; reason: string; binary: boolean }[] = [];
  for (const conflict of conflicts.slice(MAX_CONFLICTS)) {
    let binary = false;
    for (const oid of versionsOf(conflict)) binary ||= (await showSide(objects, oid, false, meter)).binary;
    filtered.push({ path: textOf(conflict.path), reason: 'max_conflict_files_exceeded', binary });
    if (meter.shouldYield) await meter.yieldToEventLoop();
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

/**
 * Returns one version of a conflicting file for the response. If the version is not a stored blob (for example a
 * submodule commit), only its id is returned.
 */
async function showSide(
  objects: ObjectReader,
  oid: Oid | undefined,
  includeContent: boolean,
  meter: Meter,
): Promise<Side> {
  if (oid === undefined) return { truncated: false, binary: false };
  const number = objects.find(oid);
  if (number < 0 || objects.typeOf(number) !== BLOB) return { oid, truncated: false, binary: false };
  const body = await runYielding(objects.readSteps(number), meter);
  const binary = isBinary(body);
  if (binary || !includeContent) return { oid, truncated: false, binary };
  const truncated = body.length > MAX_CONTENT_BYTES;
  return { oid, content: body.subarray(0, MAX_CONTENT_BYTES), truncated, binary };
}
