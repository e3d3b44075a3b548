import { decide } from '../auth/policy.js';
import type { Call } from '../call.js';
import { type ByteString, textOf } from '../git/bytes.js';
import { problem } from '../http/problem.js';
import { EPHEMERAL } from '../repositories/branch-write.js';

/** A token's `refs` and `ops` bind writes through the API like pushes: throws `forbidden` where they object. */
export function requireAllowed(call: Pick<Call, 'claims'>, ref: ByteString, action: 'push' | 'force' = 'push'): void {
  const name = textOf(ref.startsWith(EPHEMERAL) ? ref.slice(EPHEMERAL.length) : ref);
  const reason = decide(call.claims.policy, name, action);
  if (reason !== undefined) throw problem('forbidden', `${name}: ${reason}.`);
}
