import { decide, needsSignedCommits } from '../auth/policy.js';
import { type ByteString, sliceBytes, textOf } from '../git/object/bytes.js';
import { problem } from '../http/problem.js';
import type { HandlerContext } from '../operation/operation.js';
import { EPHEMERAL } from '../repositories/branch-write.js';

/**
 * Throws `forbidden` if the claims `refs` or `ops` of the token forbid the write to a ref. They apply to requests of
 * the API in the same way as to pushes.
 */
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
 * Throws `forbidden` if the policy of the token forbids a write that creates a commit. The policy `verify-sig` (commits
 * must be signed) always forbids it, because the service cannot sign commits.
 */
export function requireCommitAllowed(ctx: Pick<HandlerContext, 'claims'>, ref: ByteString): void {
  requireAllowed(ctx, ref);
  const name = shownName(ref);
  if (needsSignedCommits(ctx.claims.policy, name))
    throw problem('forbidden', `${name}: denied by policy (verify-sig).`);
}

/**
 * Returns the ref name to which the policy of a token applies. For an ephemeral branch (in a separate ref namespace) it
 * is the name of the normal branch, because the same rules apply to both.
 */
function shownName(ref: ByteString): string {
  return textOf(ref.startsWith(EPHEMERAL) ? sliceBytes(ref, EPHEMERAL.length) : ref);
}
