/** Generic error code of each status. It is used for errors that have no specific code. */
export const GENERIC: Readonly<Record<number, string>> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  408: 'request_timeout',
  409: 'conflict',
  412: 'precondition_failed',
  413: 'payload_too_large',
  422: 'unprocessable_entity',
  429: 'rate_limited',
  499: 'request_canceled',
  500: 'internal_error',
  501: 'not_implemented',
  502: 'bad_gateway',
  503: 'service_unavailable',
  504: 'gateway_timeout',
};

/** Specific error codes from the specification, each with its status and meaning. */
export const SPECIFIC = {
  authentication_unavailable: [403, 'tokens cannot be verified at present'],
  insufficient_scope: [403, 'the token lacks a required scope'],
  repo_claim_missing: [400, 'the token has no repo claim'],
  repo_name_mismatch: [400, 'repo_name in the body differs from the repo claim'],
  route_not_found: [404, 'no route matches the path'],
  repository_not_found: [404, 'the repository does not exist, or the token does not cover it'],
  repository_deleted: [409, 'the repository is already deleted'],
  repository_thawing: [409, 'the repository is being restored from cold storage'],
  sync_in_progress: [409, 'an upstream sync of the repository is running'],
  upstream_already_configured: [409, 'the repository already has an upstream'],
  branch_not_found: [404, 'the branch does not exist'],
  ref_not_found: [404, 'the ref does not exist'],
  merge_conflict: [409, 'the merge has conflicts'],
  credential_not_found: [404, 'the Git credential does not exist'],
  credential_exists: [409, 'the repository already has a Git credential'],
  forge_app_not_configured: [412, 'the organization has no application on the forge, or more than one'],
  forge_repository_inaccessible: [412, 'the forge gives no access to the upstream repository'],
  hosting_not_enabled: [403, 'hosting is not enabled for the organization'],
  hosting_project_not_found: [404, 'the repository has no hosting project'],
  deployment_not_found: [404, 'the deployment does not exist'],
  deployment_project_name_in_use: [409, 'another repository uses the hosting project name'],
  idempotency_key_reused: [422, 'the idempotency key belongs to another request'],
} as const satisfies Readonly<Record<string, readonly [status: number, meaning: string]>>;

export type SpecificCode = keyof typeof SPECIFIC;

export function isSpecificCode(code: string): code is SpecificCode {
  return Object.hasOwn(SPECIFIC, code);
}

/** Returns true if the specification lists the error code, either as generic or as specific. */
export function isListedCode(code: string): boolean {
  return isSpecificCode(code) || Object.values(GENERIC).includes(code);
}

/** Statuses for which the specification defines an error code for each case (section Token failure responses). */
const STATED = [401, 403];

/**
 * Returns the code as a client must read it. A client must treat an unknown code like the generic code of the status.
 * For 401 and 403, an unknown code is returned unchanged, because the specification defines the code of each case.
 */
export function readCode(status: number, code: string): string {
  const isNew = SNAKE_CASE.test(code) && !isListedCode(code) && isForgeCode(code) === undefined;
  return isNew && !STATED.includes(status) ? (GENERIC[status] ?? code) : code;
}

const SNAKE_CASE = /^[a-z0-9]+(_[a-z0-9]+)*$/;

/**
 * Returns which forge error the code stands for: app not configured, or upstream repository inaccessible. Returns
 * undefined for other codes. The code begins with the name of the forge, the host of the upstream repository. The name
 * is not compared, because the specification replaces it with a neutral word.
 */
export function isForgeCode(code: string): 'app' | 'repository' | undefined {
  if (/^[a-z0-9]+_app_not_configured$/.test(code)) return 'app';
  return /^[a-z0-9]+_repository_inaccessible$/.test(code) ? 'repository' : undefined;
}
