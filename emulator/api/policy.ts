import { decide, needsSignedCommits } from '../auth/policy.js';
import { type ByteString, sliceBytes, textOf } from '../git/object/bytes.js';
import { problem } from '../http/problem.js';
import type { HandlerContext } from '../operation/operation.js';
import { EPHEMERAL } from '../repositories/branch-write.js';

/**
 * Throws `forbidden` if the token's claims `refs` or `ops` forbid the write to a ref. The same rules apply to API
 * requests and pushes.
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
 * Throws `forbidden` if the token's policy forbids a write that creates a commit. The policy `verify-sig` (commits must
 * be signed) forbids all such writes, because the service cannot sign commits.
 */
export function requireCommitAllowed(ctx: Pick<HandlerContext, 'claims'>, ref: ByteString): void {
  requireAllowed(ctx, ref);
  const name = shownName(ref);
  if (needsSignedCommits(ctx.claims.policy, name))
    throw problem('forbidden', `${name}: denied by policy (verify-sig).`);
}

/**
 * Returns the ref name to which a token's policy applies. An ephemeral branch (in a separate ref namespace) has the
 * name of the normal branch, because the same rules apply to both.
 */
function shownName(ref: ByteString): string {
  return textOf(ref.startsWith(EPHEMERAL) ? sliceBytes(ref, EPHEMERAL.length) : ref);
}
