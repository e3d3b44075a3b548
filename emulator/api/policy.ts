import { decide, needsSignedCommits } from '../auth/policy.js';
import { type ByteString, sliceBytes, textOf } from '../git/object/bytes.js';
import { problem } from '../http/problem.js';
import type { HandlerContext } from '../operation/operation.js';
import { EPHEMERAL } from '../repositories/branch-write.js';

/** A token's `refs` and `ops` bind writes through the API like pushes: throws `forbidden` where they object. */
export function requireAllowed(
  ctx: Pick<HandlerContext, 'claims'>,
  ref: ByteString,
  action: 'push' | 'force' = 'push',
): void {
  const name = shownName(ref);
  const reason = decide(ctx.claims.policy, name, action);
  if (reason !== undefined) throw problem('forbidden', `${name}: ${reason}.`);
}

/** As `requireAllowed`, for a write that makes a commit: the service cannot sign one, so `verify-sig` refuses it. */
export function requireCommitAllowed(ctx: Pick<HandlerContext, 'claims'>, ref: ByteString): void {
  requireAllowed(ctx, ref);
  const name = shownName(ref);
  if (needsSignedCommits(ctx.claims.policy, name))
    throw problem('forbidden', `${name}: denied by policy (verify-sig).`);
}

/** The name a policy knows the ref by: ephemeral refs answer to the rules of the branches they stand for. */
function shownName(ref: ByteString): string {
  return textOf(ref.startsWith(EPHEMERAL) ? sliceBytes(ref, EPHEMERAL.length) : ref);
}
