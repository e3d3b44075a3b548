import { STATUS_CODES } from 'node:http';
import type { CodeVariant } from '../config/variants.js';

type CodeRows = Record<string, readonly [status: number, title: string]>;

/**
 * Generic error code and title of each status (specification, section "Errors"). A future version of the API may return
 * a more specific code instead (rule `err.new-codes`).
 */
const GENERIC = {
  bad_request: [400, 'Bad Request'],
  unauthorized: [401, 'Unauthorized'],
  forbidden: [403, 'Forbidden'],
  not_found: [404, 'Not Found'],
  method_not_allowed: [405, 'Method Not Allowed'],
  request_timeout: [408, 'Request Timeout'],
  conflict: [409, 'Conflict'],
  precondition_failed: [412, 'Precondition Failed'],
  payload_too_large: [413, 'Payload Too Large'],
  unprocessable_entity: [422, 'Unprocessable Entity'],
  rate_limited: [429, 'Too Many Requests'],
  request_canceled: [499, 'Request Canceled'],
  internal_error: [500, 'Internal Server Error'],
  not_implemented: [501, 'Not Implemented'],
  bad_gateway: [502, 'Bad Gateway'],
  service_unavailable: [503, 'Service Unavailable'],
  gateway_timeout: [504, 'Gateway Timeout'],
} as const satisfies CodeRows;

/**
 * HTTP status and title of each error code of the API (specification, section "Errors"). The generic codes come first.
 */
const CODES = {
  ...GENERIC,
  // These statuses have no generic code. Their code is the status text in snake_case (rule `err.status-text-snake`).
  not_acceptable: [406, 'Not Acceptable'],
  unsupported_media_type: [415, 'Unsupported Media Type'],
  range_not_satisfiable: [416, 'Range Not Satisfiable'],
  expectation_failed: [417, 'Expectation Failed'],
  request_header_fields_too_large: [431, 'Request Header Fields Too Large'],
  insufficient_storage: [507, 'Insufficient Storage'],
  // These codes name a specific case of their status.
  authentication_unavailable: [403, 'Authentication Unavailable'],
  insufficient_scope: [403, 'Insufficient Scope'],
  repo_claim_missing: [400, 'Repository Claim Missing'],
  repo_name_mismatch: [400, 'Repository Name Mismatch'],
  route_not_found: [404, 'Route Not Found'],
  repository_not_found: [404, 'Repository Not Found'],
  repository_deleted: [409, 'Repository Deleted'],
  repository_thawing: [409, 'Repository Thawing'],
  sync_in_progress: [409, 'Sync In Progress'],
  upstream_already_configured: [409, 'Upstream Already Configured'],
  branch_not_found: [404, 'Branch Not Found'],
  ref_not_found: [404, 'Ref Not Found'],
  merge_conflict: [409, 'Merge Conflict'],
  credential_not_found: [404, 'Credential Not Found'],
  credential_exists: [409, 'Credential Exists'],
  forge_app_not_configured: [412, 'Forge App Not Configured'],
  forge_repository_inaccessible: [412, 'Forge Repository Inaccessible'],
  hosting_not_enabled: [403, 'Hosting Not Enabled'],
  hosting_project_not_found: [404, 'Hosting Project Not Found'],
  deployment_not_found: [404, 'Deployment Not Found'],
  deployment_project_name_in_use: [409, 'Deployment Project Name In Use'],
  idempotency_key_reused: [422, 'Idempotency Key Reused'],
} as const satisfies CodeRows;

export type ProblemCode = keyof typeof CODES;

export interface ProblemOptions {
  /**
   * Status that replaces the usual status of the code. Used only where the specification allows several statuses for a
   * code.
   */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** True if the state of the repository causes the error, although the code is generic. */
  readonly isOfState?: boolean;
  /** Variant (configurable behaviour) whose value replaces the code. Absent if the code is fixed. */
  readonly variant?: CodeVariant;
  /** Additional members of the response body, such as `conflict_paths`. */
  readonly extra?: Readonly<Record<string, unknown>>;
  /** Code that the response shows instead of `code`, to simulate a code that a future version of the API adds. */
  readonly shownAs?: string;
  /** Result of a failed write. It is the response body if the operation's error format is `result`. */
  readonly result?: Readonly<Record<string, unknown>>;
}

/** Error response that any code handling a request can throw. `respond.ts` renders it. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: number;

  constructor(
    readonly code: ProblemCode,
    readonly detail: string,
    readonly options: ProblemOptions = {},
  ) {
    super(detail);
    this.status = options.status ?? CODES[code][0];
  }

  get title(): string {
    const [, title] = CODES[this.code];
    return this.options.shownAs === undefined ? title : (STATUS_CODES[this.status] ?? title);
  }
}

/** Creates an error response to throw: `throw problem('ref_not_found', 'No branch, tag or commit is named x.')` */
export function problem(code: ProblemCode, detail: string, options?: ProblemOptions): Problem {
  return new Problem(code, detail, options);
}

/** Creates a 405 error response. Its `Allow` header lists the allowed methods (RFC 9110, section 15.5.6). */
export function methodNotAllowed(method: string, allow: string): Problem {
  return problem(
    'method_not_allowed',
    `The method ${method} is not allowed on this path. The allowed methods are ${allow}.`,
    {
      headers: { allow },
    },
  );
}

/**
 * Returns an error code as responses show it. Where the specification writes `forge`, a deployment shows the name of
 * its vendor (`forgePrefix`).
 */
export function shownCode(code: ProblemCode, forgePrefix: string): string {
  return code.replace(/^forge(?=_)/, forgePrefix);
}

/**
 * Returns an error code as the specification writes it. `text` may be in this form or in the form that responses show.
 * Any vendor prefix is accepted, because this function does not know the prefix of the deployment.
 */
export function specifiedCode(text: string): string {
  const [, rest] = /^[a-z0-9]{1,32}(_.+)$/.exec(text) ?? [];
  return rest !== undefined && Object.hasOwn(CODES, `forge${rest}`) ? `forge${rest}` : text;
}

/**
 * Returns true if `shown`, the code in a response, means the code `wanted`. `wanted` may be in the form of responses or
 * of the specification.
 */
export function isCode(wanted: string, shown: string | undefined): boolean {
  return shown !== undefined && (shown === wanted || specifiedCode(shown) === wanted);
}

/**
 * Returns the generic error code of a status. If the status has none, returns `bad_request` for 4xx and
 * `internal_error` for 5xx.
 */
export function genericCodeOf(status: number): ProblemCode {
  const found = Object.entries(CODES).find(([, [own]]) => own === status) ?? [
    status < 500 ? 'bad_request' : 'internal_error',
  ];
  return found[0] as ProblemCode;
}

/** Returns true if the code is the generic code of its status, not a specific case. */
export function isGenericCode(code: ProblemCode): boolean {
  return Object.hasOwn(GENERIC, code);
}

export function problemCodes(): { code: ProblemCode; status: number; title: string }[] {
  return Object.entries(CODES).map(([code, [status, title]]) => ({ code: code as ProblemCode, status, title }));
}

/**
 * Error codes that the gateway can return for any operation. The gateway consists of the steps before the handler, so
 * handlers do not throw these codes.
 */
const GATEWAY_CODES: readonly ProblemCode[] = [
  'repo_claim_missing',
  'unauthorized',
  'forbidden',
  'authentication_unavailable',
  'insufficient_scope',
  'rate_limited',
];

/**
 * Returns true if an error with this code is always rendered as problem details, whatever error format the operation
 * has.
 */
export function staysProblem(code: ProblemCode): boolean {
  return code === 'route_not_found' || GATEWAY_CODES.includes(code);
}

/** Error codes that every operation can return before its handler runs. */
export const COMMON_CODES: readonly ProblemCode[] = ['bad_request', ...GATEWAY_CODES];

/**
 * Calls `work` and awaits its result. If an error of the class `kind` is thrown, throws `translate(error)` instead.
 * Other errors are not changed.
 */
export async function translateError<T, Thrown extends Error>(
  kind: abstract new (...given: never[]) => Thrown,
  work: () => T | Promise<T>,
  translate: (error: Thrown) => Error,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof kind ? translate(error) : error;
  }
}
