import { z } from 'zod';
import type { Variants } from '../../config/variants.js';
import { textOf } from '../../git/object/bytes.js';
import { readCommit } from '../../git/object/commit.js';
import { type Oid, ZERO_OID } from '../../git/object/object.js';
import { checkShape, readAll } from '../../http/body.js';
import { jsonSteps } from '../../http/json-reader.js';
import { Problem, problem } from '../../http/problem.js';
import { json, type Reply } from '../../http/reply.js';
import { lazy } from '../../memory/lazy.js';
import { type HandlerContext, operationsOf } from '../../operation/operation.js';
import { branchRef, commitOnto, failedResult, findWriteBase, transact } from '../../repositories/branch-write.js';
import { runYielding } from '../../schedule/steps.js';
import { person, readBranch, readIdentity, readMessage, sha } from '../fields.js';
import { ofCommit } from '../named-git-data.js';
import { requireCommitAllowed } from '../policy.js';
import { showWrite, writeResult } from '../records.js';
import { resolveRef } from '../resolve.js';

const operation = operationsOf('Commits');

const restoreMetadata = lazy(() =>
  z.object({
    target_branch: z.string(),
    target_commit_sha: z.string().optional(),
    base_ref: z.string().optional(),
    author: person(),
    expected_head_sha: sha().optional(),
    expected_target_sha: sha().optional(),
    commit_message: z.string().optional(),
    committer: person().optional(),
  }),
);

export const restoreCommit = operation({
  summary: 'Restore the content of a branch to that of a commit',
  routes: [
    { method: 'POST', path: '/api/repos/{repo_name}/restore-commit' },
    { method: 'POST', path: '/api/repos/{repo_name}/reset-commits' },
    { method: 'POST', path: '/api/v1/repos/restore-commit' },
    { method: 'POST', path: '/api/v1/repos/reset-commits' },
  ],
  dialect: 'result',
  reads: 'stream',
  names: ofCommit('metadata.'),
  replies: () => ({ 201: writeResult() }),
  errors: ['branch_not_found', 'ref_not_found', 'conflict'],
  handle: async (ctx) => {
    const metadata = await readMetadata(ctx);
    const { world, repository } = ctx;
    const now = world.state.clock.now();
    const branch = readBranch(metadata.target_branch, 'metadata.target_branch');
    const author = readIdentity(metadata.author, 'metadata.author', now);
    const committer = metadata.committer ? readIdentity(metadata.committer, 'metadata.committer', now) : author;
    const message =
      metadata.commit_message === undefined
        ? undefined
        : readMessage(metadata.commit_message, 'metadata.commit_message');
    requireCommitAllowed(ctx, branchRef(branch, false));
    const target = await resolveTarget(ctx, metadata);
    const { objects } = repository.git;
    const write = {
      branch,
      ephemeral: false,
      expected: metadata.expected_target_sha ?? metadata.expected_head_sha,
      author,
      committer,
      message: message ?? `Restore ${metadata.target_branch} to ${target}`,
    };
    return transact(repository, async (transaction) => {
      const base = findWriteBase(repository, write);
      if (base.parent === undefined) {
        const detail = `Branch ${metadata.target_branch} does not exist.`;
        throw problem('branch_not_found', detail, { result: failedResult(branch, ZERO_OID, detail) });
      }
      const { tree } = readCommit(objects, target);
      if (base.tree === tree) return alreadyMatches(ctx, textOf(branch), target);
      return json(201, showWrite(ctx.world, metadata.target_branch, await commitOnto(transaction, base, tree, write)));
    });
  },
});

/**
 * Returns the response for a branch that already has the content of the target commit. `commit` is null, and the branch
 * and the SHAs are empty (specification, 2).
 */
function alreadyMatches({ world }: HandlerContext, branch: string, target: string): Reply {
  const message = `Branch ${branch} already has the content of ${target}.`;
  const result = {
    ...emptyFields(world.variants.restoreNoopFields),
    success: false,
    status: 'precondition_failed',
    message,
  };
  return { ...json(Number(world.variants.restoreNoop), { commit: null, result }), isRefusal: true };
}

function emptyFields(variant: Variants['restoreNoopFields']): Readonly<Record<string, string | null>> {
  if (variant === 'absent') return {};
  const empty = variant === 'null' ? null : '';
  return { branch: empty, target_branch: empty, old_sha: empty, new_sha: empty };
}

/**
 * Reads the metadata from the request body, which is one NDJSON line or one JSON object. The final newline is optional.
 */
async function readMetadata(ctx: HandlerContext): Promise<z.infer<ReturnType<typeof restoreMetadata>>> {
  const body = await readAll(ctx.stream(ctx.world.limits.maxJsonBytes));
  if (body.toString('latin1').trim() === '')
    throw problem('bad_request', 'The body is empty, but must be an object with the member metadata.');
  const json = await runYielding(jsonSteps(body, 'The body'), ctx.meter);
  const line = checkShape(z.strictObject({ metadata: z.unknown() }), json, 'The body');
  return checkShape(restoreMetadata(), line.metadata, 'metadata');
}

async function resolveTarget(ctx: HandlerContext, metadata: z.infer<ReturnType<typeof restoreMetadata>>): Promise<Oid> {
  const ref = metadata.base_ref ?? metadata.target_commit_sha ?? '';
  if (ref === '')
    throw problem('bad_request', 'metadata.target_commit_sha is required: the commit whose content the branch gets.');
  try {
    return (await resolveRef(ctx, { ref })).commit;
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'ref_not_found') throw error;
    const branch = readBranch(metadata.target_branch, 'metadata.target_branch');
    const tip = ctx.repository.git.refs.get(branchRef(branch, false)) ?? ZERO_OID;
    throw problem(error.code, error.detail, { result: failedResult(branch, tip, error.detail) });
  }
}
