import { z } from 'zod';
import { type CommitMerge, mergeCommits } from '../../git/merge/merge.js';
import { applyStrategy, type MergePlan, planMerge } from '../../git/merge/plan.js';
import { type ByteString, bytesOf, textOf } from '../../git/object/bytes.js';
import type { Oid } from '../../git/object/object.js';
import type { ObjectDatabase } from '../../git/object/tree-edit.js';
import type { RefTransaction } from '../../git/refs/transaction.js';
import { problem } from '../../http/problem.js';
import { json } from '../../http/reply.js';
import { once } from '../../memory/once.js';
import type { HandlerContext } from '../../operation/handler-context.js';
import { operation, routesOfRepository } from '../../operation/operation.js';
import { branchRef, type CommitWritten, commitTo, transact } from '../../repositories/branch-write.js';
import { person, readBranch, readIdentity, readMessage, sha } from '../fields.js';
import { requireAllowed, requireCommitAllowed } from '../policy.js';
import { resolveRef } from '../resolve.js';
import { branchNotFound, tipOf } from './branches.js';

const mergeBody = once(() =>
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

/** One merge, once names are resolved. */
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
  group: 'Branches',
  summary: 'Merge a branch into another',
  routes: routesOfRepository('POST', 'merge'),
  body: mergeBody,
  // A merge is given longer than a search before it is given up.
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
      throw problem('bad_request', 'A squash always makes a commit, so it cannot be ff_only.');
    }
    const sourceName = body.source_ref ?? body.source_branch ?? '';
    if (sourceName === '') throw problem('bad_request', 'source_ref is required.');
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

/** Plans to move the branch, writes a commit, or does neither. */
async function carryOut(ctx: MergeContext, merge: Merge): Promise<Merged> {
  const { repository, body } = ctx;
  const { git } = repository;
  const plan = planMerge(git.history, merge.target, merge.source);
  const treeOf = (commit: Oid) => git.history.commit(commit).tree;
  if (plan === 'no_op') return { result: 'no_op', commit: merge.target, tree: treeOf(merge.target) };
  if (body.squash) return { result: 'squash', ...(await writeMerge(ctx, merge, plan, [merge.target])) };
  const chosen = applyStrategy(plan, body.strategy);
  if (chosen === undefined) {
    throw problem('conflict', `Branch ${body.target_branch} cannot be fast-forwarded to ${merge.sourceName}.`);
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
  if (body.author === undefined) throw problem('bad_request', 'author is required, because the merge makes a commit.');
  if (body.commit_message === undefined) {
    throw problem('bad_request', 'commit_message is required, because the merge makes a commit.');
  }
  const author = readIdentity(body.author, 'author', world.state.clock.now());
  const committer = body.committer ? readIdentity(body.committer, 'committer', world.state.clock.now()) : author;
  const message = readMessage(body.commit_message, 'commit_message');
  // A source that contains the target needs no merging: its tree is the result.
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

/** Merges the trees; throws what the merge is refused with. */
async function mergeTree(ctx: MergeContext, merge: Merge): Promise<Oid> {
  const { body } = ctx;
  const merged = await mergeSides(ctx, merge.transaction.objects, merge, body.target_branch);
  if (merged.bases.length === 0 && !body.allow_unrelated_histories) {
    throw problem('conflict', 'The histories are unrelated; allow_unrelated_histories merges them all the same.');
  }
  if (!merged.isClean) throw mergeConflict(merged);
  return merged.tree;
}

/** The paths in conflict; of a merge that is unclear only about where a folder went, the paths that concerns. */
export function conflictPaths({ conflicts, messages }: CommitMerge): string[] {
  const paths = conflicts.length > 0 ? conflicts.map(({ path }) => path) : messages.flatMap((message) => message.paths);
  return [...new Set(paths)].map(textOf);
}

function mergeConflict(merged: CommitMerge) {
  const paths = conflictPaths(merged);
  return problem('merge_conflict', `The merge has conflicts in ${paths.slice(0, 10).join(', ')}.`, {
    extra: { conflict_paths: paths, merge_base_sha: merged.bases[0] ?? null },
  });
}

/** Merges the trees. */
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
