import { STATUS_CODES } from 'node:http';
import type { CodeVariant } from '../config/variants.js';

type CodeRows = Record<string, readonly [status: number, title: string]>;

/** The generic code of each status (specification, Errors): a code that is new may come in its place. */
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
 * Every error of the API by its stable `code`: HTTP status and title.
 * Specification, Errors: the generic code of each status, then the specific codes.
 */
const CODES = {
  ...GENERIC,
  // Statuses without a generic code carry their status text in snake_case (rule `err.status-text-snake`).
  not_acceptable: [406, 'Not Acceptable'],
  unsupported_media_type: [415, 'Unsupported Media Type'],
  range_not_satisfiable: [416, 'Range Not Satisfiable'],
  expectation_failed: [417, 'Expectation Failed'],
  request_header_fields_too_large: [431, 'Request Header Fields Too Large'],
  insufficient_storage: [507, 'Insufficient Storage'],
  // Specific codes.
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
  /** Another status than the table's: only where the specification leaves a choice for one code. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether it says what state the repository is in, though its code does not. */
  readonly isOfState?: boolean;
  /** The variant that says which code it has. */
  readonly variant?: CodeVariant;
  /** Members beside the standard ones, such as `conflict_paths`. */
  readonly extra?: Readonly<Record<string, unknown>>;
  /** A code that no table has, in place of the problem's own: of an error that stands for one the future may bring. */
  readonly shownAs?: string;
  /** The body of a write workflow that failed, used where the operation's dialect is `result`. */
  readonly result?: Readonly<Record<string, unknown>>;
}

/** An answer that is an error: raised by code anywhere, rendered once in `respond.ts`. */
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

/** `throw problem('ref_not_found', 'No branch, tag or commit is named x.')` */
export function problem(code: ProblemCode, detail: string, options?: ProblemOptions): Problem {
  return new Problem(code, detail, options);
}

/** RFC 9110, 15.5.6: the answer says which methods there are. */
export function methodNotAllowed(method: string, allow: string): Problem {
  return problem('method_not_allowed', `${method} is not a method of this route; it takes ${allow}.`, {
    headers: { allow },
  });
}

/** A code as clients see it: the specification writes `forge` where a deployment has its vendor's name. */
export function shownCode(code: ProblemCode, forgePrefix: string): string {
  return code.replace(/^forge(?=_)/, forgePrefix);
}

/**
 * The code that a text names: as the specification writes it, or as a deployment may show it. Which prefix a deployment
 * has is not always known where its codes are read, so that any does.
 */
export function specifiedCode(text: string): string {
  const [, rest] = /^[a-z0-9]{1,32}(_.+)$/.exec(text) ?? [];
  return rest !== undefined && Object.hasOwn(CODES, `forge${rest}`) ? `forge${rest}` : text;
}

/** Whether an answer that shows this code is meant by `wanted`: the code as it is shown, or as the specification writes it. */
export function isCode(wanted: string, shown: string | undefined): boolean {
  return shown !== undefined && (shown === wanted || specifiedCode(shown) === wanted);
}

/** The generic code of a status; of one without, that of its hundred. */
export function genericCodeOf(status: number): ProblemCode {
  const found = Object.entries(CODES).find(([, [own]]) => own === status) ?? [
    status < 500 ? 'bad_request' : 'internal_error',
  ];
  return found[0] as ProblemCode;
}

/** Whether it is the code that the specification gives to a status, and to no case. */
export function isGenericCode(code: ProblemCode): boolean {
  return Object.hasOwn(GENERIC, code);
}

export function problemCodes(): { code: ProblemCode; status: number; title: string }[] {
  return Object.entries(CODES).map(([code, [status, title]]) => ({ code: code as ProblemCode, status, title }));
}

/** Codes that are answered before an operation's handler runs, by every operation, and that no handler raises for itself. */
const GATEWAY_CODES: readonly ProblemCode[] = [
  'repo_claim_missing',
  'unauthorized',
  'forbidden',
  'authentication_unavailable',
  'insufficient_scope',
  'rate_limited',
];

/** Whether the gateway words the error as problem details, whatever the dialect of the operation. */
export function staysProblem(code: ProblemCode): boolean {
  return code === 'route_not_found' || GATEWAY_CODES.includes(code);
}

/** The codes of the gateway that every operation can answer with. */
export const COMMON_CODES: readonly ProblemCode[] = ['bad_request', ...GATEWAY_CODES];

/** Awaits `work`. Throws what `translate` makes of an error of the class `kind`, and any other error as it is. */
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
