import type { Claims } from '../auth/claims.js';
import { type Check, Rejection } from '../auth/rejection.js';
import { type OperationId, operationFacts } from '../config/operation-ids.js';
import type { Variants } from '../config/variants.js';
import { type Problem, type ProblemCode, problem } from '../http/problem.js';

/** Facts about a refused request on which the error code of its response depends. */
export interface RefusedRequest {
  readonly operation: { readonly id: OperationId; readonly group: string } | undefined;
  /** True if the request has a non-empty `Authorization` header. */
  readonly hasCredential: boolean;
  /** Claims of the token. Undefined if the token is missing or was refused. */
  readonly claims: Pick<Claims, 'repo' | 'scopes'> | undefined;
  /** Repository name in the path; undefined if the path contains none. */
  readonly named: string | undefined;
}

/**
 * Challenge header of responses with status 401. It names both schemes, because git asks the user for another password
 * only if the header contains Basic.
 */
export const CHALLENGE = { 'www-authenticate': 'Bearer, Basic realm="git"' };

/**
 * Error codes for the statuses that a variant (configurable behaviour) can select for Git remotes. Git responses do not
 * show the code, so any code with the right status will do.
 */
const GIT_CODES = { 401: 'unauthorized', 403: 'forbidden', 404: 'repository_not_found' } as const;

/**
 * Rule for refusals whose code depends on a variant (configurable behaviour). `holds` returns true if the rule applies.
 * `code` returns undefined if the refusal keeps its own code.
 */
interface RefusalRow {
  readonly holds: (refusal: Problem, request: RefusedRequest) => boolean;
  readonly code: (variants: Variants, request: RefusedRequest) => ProblemCode | undefined;
}

/**
 * Rules for refusals whose code depends on a variant (configurable behaviour). The first rule that applies determines
 * the code.
 */
const ROWS: readonly RefusalRow[] = [
  {
    holds: (refusal, request) => isOnGit(request) && isInvalidToken(refusal),
    code: ({ gitInvalidToken }) => GIT_CODES[gitInvalidToken],
  },
  {
    // A search always responds with 403 to an invalid token, because both tables of the specification say 403.
    holds: (refusal, { operation }) => isInvalidToken(refusal) && operation?.id === 'grep',
    code: () => undefined,
  },
  {
    holds: isInvalidToken,
    code: ({ invalidToken }, { operation }) => unauthorizedIf(speaks401(invalidToken, 'invalidToken', operation?.id)),
  },
  {
    holds: (refusal, request) => isOnGit(request) && failed(refusal, 'scope-missing'),
    code: ({ gitMissingScope }) => (gitMissingScope === '403' ? undefined : GIT_CODES[gitMissingScope]),
  },
  {
    holds: (refusal, { operation }) => operation?.id === 'getRepository' && failed(refusal, 'scope-missing'),
    code: ({ repositoryScope }) => unauthorizedIf(repositoryScope === 'unauthorized'),
  },
  {
    holds: (refusal) => failed(refusal, 'scope-missing'),
    code: ({ missingScope }, { operation }) => unauthorizedIf(speaks401(missingScope, 'missingScope', operation?.id)),
  },
  {
    holds: (refusal, { claims }) =>
      failed(refusal, 'repo-missing') && claims?.scopes.every((scope) => scope === 'org:read') === true,
    code: ({ orgTokenOnRepository, missingRepoClaim }) =>
      orgTokenOnRepository === 'insufficient_scope' ? orgTokenOnRepository : forbiddenIf(missingRepoClaim === '403'),
  },
  {
    holds: (refusal) => failed(refusal, 'repo-missing'),
    code: ({ missingRepoClaim }) => forbiddenIf(missingRepoClaim === '403'),
  },
  {
    holds: (refusal, { hasCredential }) => failed(refusal, 'missing') && hasCredential,
    code: ({ emptyBearer }) => forbiddenIf(emptyBearer === '403'),
  },
  {
    holds: ({ code }, { hasCredential }) => code === 'route_not_found' && !hasCredential,
    code: ({ unknownRoute }) => unauthorizedIf(unknownRoute === '401'),
  },
  {
    holds: ({ code }, { operation }) => code === 'method_not_allowed' && operation?.id !== 'fileMetadata',
    code: ({ wrongMethod }) => (wrongMethod === '404' ? 'route_not_found' : undefined),
  },
  {
    holds: ({ code }, request) => isOnGit(request) && code === 'repository_not_found',
    code: ({ gitMissingRepository, gitOtherRepository }, { claims, named }) =>
      GIT_CODES[claims?.repo === named ? gitMissingRepository : gitOtherRepository],
  },
];

/** Returns the refusal (error response) with the code that the variants select. */
export function wordRefusal(refusal: Problem, request: RefusedRequest, variants: Variants): Problem {
  const { options, detail } = refusal;
  const code = options.variant
    ? variants[options.variant]
    : ROWS.find(({ holds }) => holds(refusal, request))?.code(variants, request);
  if (code === undefined || code === refusal.code) return refusal;
  const { allow: _, ...headers } = options.headers ?? {};
  return problem(code, detail, { ...options, headers: { ...headers, ...(code === 'unauthorized' && CHALLENGE) } });
}

function isOnGit({ operation }: RefusedRequest): boolean {
  return operation?.group === 'Git';
}

function isInvalidToken(refusal: Problem): boolean {
  return refusal instanceof Rejection && refusal.isInvalidToken;
}

function failed(refusal: Problem, check: Check): boolean {
  return refusal instanceof Rejection && refusal.check === check;
}

function unauthorizedIf(is: boolean): ProblemCode | undefined {
  return is ? 'unauthorized' : undefined;
}

function forbiddenIf(is: boolean): ProblemCode | undefined {
  return is ? 'forbidden' : undefined;
}

function speaks401(
  variant: string,
  refusal: 'invalidToken' | 'missingScope',
  operation: OperationId | undefined,
): boolean {
  return (
    variant === '401' ||
    (variant === 'endpoint-table' && operationFacts(operation).unauthorized?.includes(refusal) === true)
  );
}
