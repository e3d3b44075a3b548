import { z } from 'zod';
import { type ByteString, bytesOf, sliceBytes, textOf } from '../../git/object/bytes.js';
import { type Oid, ZERO_OID } from '../../git/object/object.js';
import { sortInSteps } from '../../git/object/sort.js';
import type { Ref, Refs } from '../../git/refs/refs.js';
import { isForced } from '../../git/repository/forced-update.js';
import { problem } from '../../http/problem.js';
import { json } from '../../http/reply.js';
import { lazy } from '../../memory/lazy.js';
import { type HandlerContext, operationsOf, routesOfRepository } from '../../operation/operation.js';
import { branchRef, transact } from '../../repositories/branch-write.js';
import type { Repository } from '../../repositories/repository.js';
import { PIECE, PIECE_COST, runYielding, type Steps } from '../../schedule/steps.js';
import { isoTime } from '../../time/iso-8601.js';
import { flag, readBranch } from '../fields.js';
import { ofBranch } from '../named-git-data.js';
import { openList, pageEnd, pageQuery } from '../paging.js';
import { requireAllowed } from '../policy.js';
import { type RefContext, resolveRef } from '../resolve.js';

const operation = operationsOf('Branches');

const branchRecord = lazy(() => z.object({ name: z.string(), head_sha: z.string(), created_at: z.iso.datetime() }));

function showBranch(name: ByteString, ref: Ref): z.infer<ReturnType<typeof branchRecord>> {
  return { name: textOf(name), head_sha: ref.oid, created_at: isoTime(ref.createdAt) };
}

type Position = [createdAt: number, name: ByteString];

export const listBranches = operation({
  summary: 'List the branches in order of creation',
  routes: routesOfRepository('GET', 'branches'),
  query: () => z.object({ ...pageQuery(), ephemeral: flag().optional() }),
  replies: () => ({
    200: z.object({ branches: z.array(branchRecord().extend({ cursor: z.string() })), ...pageEnd() }),
  }),
  handle: async (ctx) => {
    const { repository, query } = ctx;
    const ephemeral = query.ephemeral ?? false;
    const list = openList<Position>(ctx, query, ['listBranches', repository.id, ephemeral]);
    const following = await runYielding(branchesAfter(repository, ephemeral, list.position), ctx.meter);
    const positionOf = ([name, ref]: [ByteString, Ref]): Position => [ref.createdAt, name];
    const { page, end } = await list.take(following, positionOf);
    const branches = page.map((each) => ({ cursor: list.cursorAt(positionOf(each)), ...showBranch(...each) }));
    return json(200, { branches, ...end });
  },
});

const NO_NAME = bytesOf('');

/**
 * Returns the branches after the position `after`, the last branch of the previous page. Branches are sorted by
 * creation time, then by name (as byte strings, as in Git). Yields the cost of the work.
 */
function* branchesAfter(
  repository: Repository,
  ephemeral: boolean,
  after: Position | undefined,
): Steps<[ByteString, Ref][]> {
  const prefix = branchRef(NO_NAME, ephemeral);
  const branches: [ByteString, Ref][] = [];
  let seen = 0;
  for (const [name, ref] of repository.git.refs.entries(prefix)) {
    if (++seen % PIECE === 0) yield PIECE_COST;
    const short = sliceBytes(name, prefix.length);
    if (!after || isAfter([ref.createdAt, short], after)) branches.push([short, ref]);
  }
  return yield* sortInSteps(branches, ([a, left], [b, right]) =>
    isAfter([left.createdAt, a], [right.createdAt, b]) ? 1 : -1,
  );
}

function isAfter([time, name]: Position, [otherTime, otherName]: Position): boolean {
  return time === otherTime ? name > otherName : time > otherTime;
}

export const getBranch = operation({
  summary: 'Show one branch',
  routes: routesOfRepository('GET', 'branch'),
  query: () => z.object({ name: z.string(), ephemeral: flag().optional() }),
  replies: () => ({ 200: z.object({ branch: branchRecord() }) }),
  errors: ['branch_not_found'],
  handle: ({ repository, query }) => {
    const name = readBranch(query.name, 'name');
    const ref = repository.git.refs.ref(branchRef(name, query.ephemeral ?? false));
    if (!ref) throw branchNotFound(query.name);
    return json(200, { branch: showBranch(name, ref) });
  },
});

/**
 * Returns the commit to which a branch points. Throws `branch_not_found` if the branch does not exist. `what` names the
 * request member in error messages.
 */
export function tipOf({ git }: Repository, name: string, ephemeral = false, what = 'branch'): Oid {
  const tip = git.refs.get(branchRef(readBranch(name, what), ephemeral));
  if (tip === undefined) throw branchNotFound(name);
  return tip;
}

export function branchNotFound(name: string) {
  return problem('branch_not_found', `Branch ${name} does not exist.`);
}

const createBody = lazy(() =>
  z.object({
    target_branch: z.string(),
    base_ref: z.string().optional(),
    base_branch: z.string().optional(),
    preferred_base: z.string().optional(),
    base_is_ephemeral: z.boolean().optional(),
    target_is_ephemeral: z.boolean().optional(),
    force: z.boolean().optional(),
  }),
);

export const createBranch = operation({
  summary: 'Create a branch, or promote an ephemeral one',
  routes: routesOfRepository('POST', 'branches/create'),
  body: createBody,
  names: ofBranch('target_branch'),
  replies: () => ({
    200: z.object({
      message: z.string(),
      target_branch: z.string(),
      target_is_ephemeral: z.boolean(),
      commit_sha: z.string().optional(),
    }),
  }),
  errors: ['branch_not_found', 'ref_not_found', 'conflict'],
  handle: async (ctx) => {
    const { repository, body } = ctx;
    const { git } = repository;
    const ref = branchRef(readBranch(body.target_branch, 'target_branch'), body.target_is_ephemeral ?? false);
    requireAllowed(ctx, ref);
    const commit = await resolveBase(ctx);
    await transact(repository, async (transaction) => {
      const current = git.refs.get(ref);
      if (current !== undefined && current !== commit && !body.force) {
        throw problem('conflict', `Branch ${body.target_branch} already exists at ${current}.`);
      }
      const update = { name: ref, old: current ?? ZERO_OID, new: commit };
      await git.history.extend([commit], ctx.meter);
      // As for a push, the token must permit a forced update only if the branch loses commits. The request member
      // `force` does not change this.
      if (isForced(git, transaction.objects, update)) requireAllowed(ctx, ref, 'force');
      transaction.update(update);
    });
    return json(200, {
      message: 'branch created',
      target_branch: body.target_branch,
      target_is_ephemeral: body.target_is_ephemeral ?? false,
      commit_sha: commit,
    });
  },
});

/**
 * Returns the commit at which the new branch begins. `base_ref` takes precedence over the older `base_branch`. If that
 * base does not exist, the branch `preferred_base` is used.
 */
async function resolveBase(
  ctx: RefContext & Pick<HandlerContext<unknown, z.infer<ReturnType<typeof createBody>>>, 'body'>,
): Promise<Oid> {
  const { repository, body } = ctx;
  const base = body.base_ref ?? body.base_branch;
  if (base === undefined || base === '') throw problem('bad_request', 'base_ref or base_branch is required.');
  const ephemeral = body.base_is_ephemeral ?? false;
  try {
    return (await resolveRef(ctx, { ref: base, ephemeral })).commit;
  } catch (error) {
    const fallback = body.preferred_base && repository.git.refs.get(branchRef(bytesOf(body.preferred_base), ephemeral));
    if (fallback) return fallback;
    if (body.base_ref === undefined) throw branchNotFound(base);
    throw error;
  }
}

export const deleteBranch = operation({
  summary: 'Delete a branch',
  routes: routesOfRepository('DELETE', 'branches'),
  body: () =>
    z.object({
      target_branch: z.string().optional(),
      name: z.string().optional(),
      ephemeral: z.boolean().optional(),
    }),
  names: ofBranch('target_branch', 'name'),
  replies: () => ({
    200: z.object({ name: z.string(), target_branch: z.string(), message: z.string(), ephemeral: z.boolean() }),
  }),
  errors: ['branch_not_found', 'conflict'],
  handle: async (ctx) => {
    const { repository, body } = ctx;
    const text = body.target_branch ?? body.name;
    if (text === undefined) throw problem('bad_request', 'target_branch is required.');
    const ephemeral = body.ephemeral ?? false;
    const name = readBranch(text, 'target_branch');
    requireNotHead(repository.git.refs, branchRef(name, ephemeral));
    await deleteRef(ctx, branchRef(name, ephemeral), () => branchNotFound(text));
    return json(200, { name: text, target_branch: text, message: 'branch deleted', ephemeral });
  },
});

function requireNotHead({ head }: Refs, ref: ByteString): void {
  if ('symref' in head && head.symref === ref)
    throw problem('conflict', 'The default branch cannot be deleted. Make another branch the default branch first.');
}

/**
 * Deletes a ref, whatever object it points to. Throws `missing()` if the ref does not exist, and `forbidden` if the
 * token does not permit the deletion.
 */
export async function deleteRef(
  ctx: Pick<HandlerContext, 'repository' | 'claims'>,
  ref: ByteString,
  missing: () => Error,
): Promise<void> {
  requireAllowed(ctx, ref, 'force');
  await transact(ctx.repository, (transaction) => {
    // The check is repeated in the transaction, because the default branch may have changed since the first check.
    requireNotHead(transaction.refs, ref);
    const old = transaction.refs.get(ref);
    if (old === undefined) throw missing();
    transaction.update({ name: ref, old, new: ZERO_OID });
  });
}
