import { DEFAULT_VARIANTS } from '../config/variants.js';
import { COMMON_CODES, type ProblemCode } from '../http/problem.js';
import type { Operation } from '../operation/operation.js';
import { type RepositoryState, refusalOf } from '../repositories/lifecycle.js';

/** Error codes of operations that read a request body. The body may stop arriving, be too large, or be compressed. */
const BODY: readonly ProblemCode[] = ['request_timeout', 'payload_too_large', 'unsupported_media_type'];
const STATES: readonly RepositoryState[] = ['deleted', 'thawing', 'syncing'];

/**
 * Returns all error codes that an operation of the API can return. They are its own codes, the codes of earlier checks
 * (malformed requests, credentials, quotas), and the codes for repository states such as `deleted`.
 */
export function errorCodesOf(operation: Operation): ReadonlySet<ProblemCode> {
  const codes = new Set<ProblemCode>([...COMMON_CODES, ...operation.errors]);
  if (operation.reads !== undefined) for (const code of BODY) codes.add(code);
  if (operation.subject === 'repository') {
    codes.add('repository_not_found');
    for (const state of STATES) {
      const code = refusalOf(state, operation, DEFAULT_VARIANTS);
      if (code !== undefined) codes.add(code);
    }
  }
  // A write can also return `service_unavailable`, because writes are refused when the process is at its memory limit.
  if (operation.effect === 'write') codes.add('service_unavailable');
  return codes;
}
