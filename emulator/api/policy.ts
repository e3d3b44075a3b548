import { decide, needsSignedCommits } from '../auth/policy.js';
import { type ByteString, sliceBytes, textOf } from '../git/object/bytes.js';
import { problem } from '../http/problem.js';
import type { HandlerContext } from '../operation/operation.js';
import { EPHEMERAL } from '../repositories/branch-write.js';

/** Throws `forbidden` if `refs` or `ops` of the token forbid the write. They apply to the API as to pushes. */
export function requireAllowed(
  ctx: Pick<HandlerContext, 'claims'>,
  ref: ByteString,
  action: 'push' | 'force' = 'push',
): void {
  const name = shownName(ref);
  const reason = decide(ctx.claims.policy, name, action);
  if (reason !== undefined) throw problem('forbidden', `${name}: ${reason}.`);
}

/**
 * Same as `requireAllowed`, for a write that creates a commit. The service cannot sign commits, so `verify-sig` refuses
 * it.
 */
export function requireCommitAllowed(ctx: Pick<HandlerContext, 'claims'>, ref: ByteString): void {
  requireAllowed(ctx, ref);
  const name = shownName(ref);
  if (needsSignedCommits(ctx.claims.policy, name))
    throw problem('forbidden', `${name}: denied by policy (verify-sig).`);
}

/** Returns the ref name that a policy applies to. The rules of a branch also apply to its ephemeral counterpart. */
function shownName(ref: ByteString): string {
  return textOf(ref.startsWith(EPHEMERAL) ? sliceBytes(ref, EPHEMERAL.length) : ref);
}
