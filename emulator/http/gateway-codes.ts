import type { ProblemCode } from './problem.js';

interface GatewayCode {
  /** Whether every operation can answer with it. */
  readonly isCommon: boolean;
  /** Whether it stays problem details where the operation speaks another dialect: no handler raises it for itself. */
  readonly isProblem: boolean;
}

/** What is answered before an operation's handler runs. */
const GATEWAY_CODES: Partial<Readonly<Record<ProblemCode, GatewayCode>>> = {
  bad_request: { isCommon: true, isProblem: false },
  repo_claim_missing: { isCommon: true, isProblem: true },
  unauthorized: { isCommon: true, isProblem: true },
  forbidden: { isCommon: true, isProblem: true },
  authentication_unavailable: { isCommon: true, isProblem: true },
  insufficient_scope: { isCommon: true, isProblem: true },
  rate_limited: { isCommon: true, isProblem: true },
  // No operation has been found.
  route_not_found: { isCommon: false, isProblem: true },
};

/** Whether the gateway words the error as problem details, whatever the dialect of the operation. */
export function staysProblem(code: ProblemCode): boolean {
  return GATEWAY_CODES[code]?.isProblem === true;
}

/** The codes of the gateway that every operation can answer with. */
export const COMMON_CODES: readonly ProblemCode[] = (Object.keys(GATEWAY_CODES) as ProblemCode[]).filter(
  (code) => GATEWAY_CODES[code]!.isCommon,
);
