import { DEFAULT_VARIANTS } from '../config/variants.js';
import { COMMON_CODES, type ProblemCode } from '../http/problem.js';
import type { Operation } from '../operation/operation.js';
import { type RepositoryState, refusalOf } from '../repositories/lifecycle.js';

/** A body may stop arriving, be too large, or be compressed. */
const BODY: readonly ProblemCode[] = ['request_timeout', 'payload_too_large', 'unsupported_media_type'];
const STATES: readonly RepositoryState[] = ['deleted', 'thawing', 'syncing'];

/**
 * Every code that `operation` can answer: its own, those of the gateway (a request can be malformed, and
 * credential and quota are looked at first), and those of the states of its repository.
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
  // What is stored counts: past the limit of the process nothing more is taken in.
  if (operation.effect === 'write') codes.add('service_unavailable');
  return codes;
}
