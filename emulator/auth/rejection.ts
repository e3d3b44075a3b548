import { Problem, type ProblemCode } from '../http/problem.js';

/**
 * Checks of a credential, in the order in which they are made, with their error codes (specification, Token failure
 * responses). `invalid` is true if a failure means that the token itself is invalid. The setting `invalidToken` can
 * change the error code of these failures.
 */
const CHECKS = {
  repeated: { code: 'bad_request', invalid: false },
  missing: { code: 'unauthorized', invalid: false },
  scheme: { code: 'unauthorized', invalid: false },
  structure: { code: 'forbidden', invalid: true },
  type: { code: 'forbidden', invalid: true },
  algorithm: { code: 'forbidden', invalid: true },
  critical: { code: 'forbidden', invalid: true },
  'key-id': { code: 'forbidden', invalid: true },
  issuer: { code: 'forbidden', invalid: true },
  signature: { code: 'forbidden', invalid: true },
  subject: { code: 'forbidden', invalid: true },
  scopes: { code: 'forbidden', invalid: true },
  times: { code: 'forbidden', invalid: true },
  repo: { code: 'forbidden', invalid: true },
  policy: { code: 'forbidden', invalid: true },
  expired: { code: 'forbidden', invalid: true },
  'not-yet-valid': { code: 'forbidden', invalid: true },
  'restricted-key': { code: 'forbidden', invalid: true },
  tenant: { code: 'forbidden', invalid: false },
  'repo-missing': { code: 'repo_claim_missing', invalid: false },
  'scope-missing': { code: 'insufficient_scope', invalid: false },
} as const satisfies Record<string, { code: ProblemCode; invalid: boolean }>;

export type Check = keyof typeof CHECKS;

/**
 * Error response for a credential that failed `check`. Its detail names the reason, but never contains a part of the
 * token.
 */
export class Rejection extends Problem {
  constructor(
    readonly check: Check,
    reason: string,
    headers?: Readonly<Record<string, string>>,
    /**
     * Values that caused the failure. Only the journal (list of all requests, for tests) shows them. They never contain
     * a usable part of the token.
     */
    readonly evidence?: string,
  ) {
    const { code, invalid } = CHECKS[check];
    super(code, invalid ? `The token is invalid or expired: ${reason}.` : `${reason}.`, headers ? { headers } : {});
  }

  /** True if the token itself is invalid. The setting `invalidToken` can change the error code of these rejections. */
  get isInvalidToken(): boolean {
    return CHECKS[this.check].invalid;
  }
}

/** Creates the error for a credential that failed a check. Example: `throw reject('expired', 'exp is in the past')`. */
export function reject(...rejection: ConstructorParameters<typeof Rejection>): Rejection {
  return new Rejection(...rejection);
}
