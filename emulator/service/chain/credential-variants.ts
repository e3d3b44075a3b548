import { Rejection } from '../../auth/rejection.js';
import type { OperationId } from '../../config/operation-ids.js';
import type { Variants } from '../../config/variants.js';
import type { Problem } from '../../http/problem.js';
import { problem } from '../../http/problem.js';

/** Operations whose own table lists an invalid JWT under 401, against the Authentication table. */
const INVALID_TOKEN_401 = new Set<OperationId>([
  'restoreCommit',
  'fileMetadata',
  'getCommit',
  'commitPack',
  'writeNote',
  'readFile',
  'getRepository',
]);
/** Operations whose own table lists a missing scope under 401. */
const MISSING_SCOPE_401 = new Set<OperationId>(['getCommit', 'commitPack', 'writeNote', 'readFile']);

/** Both schemes, so that git asks for another password. */
export const CHALLENGE = { headers: { 'www-authenticate': 'Bearer, Basic realm="git"' } };

/** A refused credential as the chosen variants word it; anything else as it is. */
export function applyCredentialVariants(
  refusal: Problem,
  operation: OperationId | undefined,
  variants: Variants,
): Problem {
  if (!(refusal instanceof Rejection)) return refusal;
  if (refusal.isInvalidToken && speaks401(variants.invalidToken, INVALID_TOKEN_401, operation)) {
    return problem('unauthorized', refusal.detail, CHALLENGE);
  }
  if (refusal.check === 'scope-missing' && speaks401(variants.missingScope, MISSING_SCOPE_401, operation)) {
    return problem('unauthorized', refusal.detail, CHALLENGE);
  }
  if (refusal.check === 'repo-missing' && variants.missingRepoClaim === '403')
    return problem('forbidden', refusal.detail);
  return refusal;
}

function speaks401(variant: string, listed: ReadonlySet<OperationId>, operation: OperationId | undefined): boolean {
  return variant === '401' || (variant === 'endpoint-table' && operation !== undefined && listed.has(operation));
}
