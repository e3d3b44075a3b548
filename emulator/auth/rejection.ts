import { Problem, type ProblemCode } from '../http/problem.js';

/**
 * Every check a credential has to pass, in the order they are made, with the code its failure has
 * (specification, Token failure responses). `invalid` ones are what variant `invalidToken` is about.
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

/** A credential that failed `check`. Its detail names the check and never holds a part of the token. */
export class Rejection extends Problem {
  constructor(
    readonly check: Check,
    reason: string,
    headers?: Readonly<Record<string, string>>,
    /** With which values it failed, for the journal: never a part of the token that could be used. */
    readonly evidence?: string,
  ) {
    const { code, invalid } = CHECKS[check];
    super(code, invalid ? `The token is invalid or expired: ${reason}.` : `${reason}.`, headers ? { headers } : {});
  }

  /** Whether the token itself is at fault: the case that variant `invalidToken` words differently. */
  get isInvalidToken(): boolean {
    return CHECKS[this.check].invalid;
  }
}

/** `throw reject('expired', 'exp has passed')` */
export function reject(...rejection: ConstructorParameters<typeof Rejection>): Rejection {
  return new Rejection(...rejection);
}
