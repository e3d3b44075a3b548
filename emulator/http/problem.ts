import { STATUS_CODES } from 'node:http';
import type { CodeVariant } from '../config/variants.js';

type CodeRows = Record<string, readonly [status: number, title: string]>;

/**
 * Generic error code of each status, with its title (specification, section "Errors"). A future version of the API may
 * return a new, more specific code instead (rule `err.new-codes`).
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
 * HTTP status and title of each error code of the API (specification, section "Errors"): first the generic codes, then
 * the specific ones.
 */
const CODES = {
  ...GENERIC,
  // The following statuses have no generic code. Their code is the status text in snake_case (rule
  // `err.status-text-snake`).
  not_acceptable: [406, 'Not Acceptable'],
  unsupported_media_type: [415, 'Unsupported Media Type'],
  range_not_satisfiable: [416, 'Range Not Satisfiable'],
  expectation_failed: [417, 'Expectation Failed'],
  request_header_fields_too_large: [431, 'Request Header Fields Too Large'],
  insufficient_storage: [507, 'Insufficient Storage'],
  // The following codes name a specific case of their status.
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
   * Status that replaces the one of the code. Only used where the specification allows several statuses for one code.
   */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** True if the error results from the state of the repository, although its code is a generic one. */
  readonly isOfState?: boolean;
  /** Name of the variant (configurable behaviour) whose value replaces the code; absent if the code is fixed. */
  readonly variant?: CodeVariant;
  /** Additional members of the response body, such as `conflict_paths`. */
  readonly extra?: Readonly<Record<string, unknown>>;
  /** Code that the response shows instead of `code`. It simulates a code that a future version of the API adds. */
  readonly shownAs?: string;
  /** Body of the response if the error format of the operation is `result`: the result of a failed write. */
  readonly result?: Readonly<Record<string, unknown>>;
}

/** Error response. Any code that handles a request can throw it, and `respond.ts` renders it. */
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

/** Creates an error response to be thrown: `throw problem('ref_not_found', 'No branch, tag or commit is named x.')` */
export function problem(code: ProblemCode, detail: string, options?: ProblemOptions): Problem {
  return new Problem(code, detail, options);
}

/**
 * Creates an error response with status 405. Its `Allow` header lists the allowed methods (RFC 9110, section 15.5.6).
 */
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
 * Returns an error code as responses show it. The specification writes `forge` where a deployment of the service shows
 * the name of its vendor (`forgePrefix`).
 */
export function shownCode(code: ProblemCode, forgePrefix: string): string {
  return code.replace(/^forge(?=_)/, forgePrefix);
}

/**
 * Returns an error code as the specification writes it. `text` may have this form, or the form that responses of a
 * deployment show. Any vendor prefix is accepted, because this function does not know the one of the deployment.
 */
export function specifiedCode(text: string): string {
  const [, rest] = /^[a-z0-9]{1,32}(_.+)$/.exec(text) ?? [];
  return rest !== undefined && Object.hasOwn(CODES, `forge${rest}`) ? `forge${rest}` : text;
}

/**
 * Returns true if `shown`, the code in a response, is the code `wanted`. `wanted` has the form that responses show or
 * the one of the specification.
 */
export function isCode(wanted: string, shown: string | undefined): boolean {
  return shown !== undefined && (shown === wanted || specifiedCode(shown) === wanted);
}

/** Returns the generic error code of a status. For a status without one, returns `bad_request` or `internal_error`. */
export function genericCodeOf(status: number): ProblemCode {
  const found = Object.entries(CODES).find(([, [own]]) => own === status) ?? [
    status < 500 ? 'bad_request' : 'internal_error',
  ];
  return found[0] as ProblemCode;
}

/** Returns true if the code is the generic one of its status; false if it names a specific case. */
export function isGenericCode(code: ProblemCode): boolean {
  return Object.hasOwn(GENERIC, code);
}

export function problemCodes(): { code: ProblemCode; status: number; title: string }[] {
  return Object.entries(CODES).map(([code, [status, title]]) => ({ code: code as ProblemCode, status, title }));
}

/**
 * Error codes that the gateway (the steps before the handler) returns for any operation. Handlers do not throw them.
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
 * Returns true if an error with this code is rendered as problem details, regardless of the error format of the
 * operation.
 */
export function staysProblem(code: ProblemCode): boolean {
  return code === 'route_not_found' || GATEWAY_CODES.includes(code);
}

/** Error codes that any operation can return before its handler runs. */
export const COMMON_CODES: readonly ProblemCode[] = ['bad_request', ...GATEWAY_CODES];

/**
 * Calls `work` and awaits its result. Replaces an error of the class `kind` by `translate(error)`. Other errors are
 * unchanged.
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
