import type { Claims } from '../auth/claims.js';
import { type Check, Rejection } from '../auth/rejection.js';
import { type OperationId, operationFacts } from '../config/operation-ids.js';
import type { Variants } from '../config/variants.js';
import { type Problem, type ProblemCode, problem } from '../http/problem.js';

/** Facts about a refused request that decide the wording of its refusal. */
export interface RefusedRequest {
  readonly operation: { readonly id: OperationId; readonly group: string } | undefined;
  /** True if the request has a non-empty `Authorization` header. */
  readonly hasCredential: boolean;
  /** Claims of the token; undefined if the token was refused. */
  readonly claims: Pick<Claims, 'repo' | 'scopes'> | undefined;
  /** Repository in the path; undefined if the path names none. */
  readonly named: string | undefined;
}

/** Contains both schemes. With Basic, git asks for another password. */
export const CHALLENGE = { 'www-authenticate': 'Bearer, Basic realm="git"' };

/** Error codes of the statuses that a variant can select for Git remotes, whose responses show no code. */
const GIT_CODES = { 401: 'unauthorized', 403: 'forbidden', 404: 'repository_not_found' } as const;

/** Refusal whose code depends on a variant. `code` returns undefined if the refusal keeps its own code. */
interface RefusalRow {
  readonly holds: (refusal: Problem, request: RefusedRequest) => boolean;
  readonly code: (variants: Variants, request: RefusedRequest) => ProblemCode | undefined;
}

/** Table of refusals that depend on variants. The first row that holds decides. */
const ROWS: readonly RefusalRow[] = [
  {
    holds: (refusal, request) => isOnGit(request) && isInvalidToken(refusal),
    code: ({ gitInvalidToken }) => GIT_CODES[gitInvalidToken],
  },
  {
    // Both tables of the specification state 403 for a search, so no variant applies.
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

/** Returns the refusal with the code that the variants select. */
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
