import type { Claims } from '../auth/claims.js';
import { type Check, Rejection } from '../auth/rejection.js';
import { type OperationId, operationFacts } from '../config/operation-ids.js';
import type { Variants } from '../config/variants.js';
import { type Problem, type ProblemCode, problem } from '../http/problem.js';

/** What was refused, as far as the wording of the refusal depends on it. */
export interface RefusedRequest {
  readonly operation: { readonly id: OperationId; readonly group: string } | undefined;
  /** Whether it has an `Authorization` header that is not empty. */
  readonly hasCredential: boolean;
  /** Of a token that was accepted. */
  readonly claims: Pick<Claims, 'repo' | 'scopes'> | undefined;
  /** The repository that the path names. */
  readonly named: string | undefined;
}

/** Both schemes, so that git asks for another password. */
export const CHALLENGE = { 'www-authenticate': 'Bearer, Basic realm="git"' };

/** The code that a chosen status has on a Git remote, where the answer shows none. */
const GIT_CODES = { 401: 'unauthorized', 403: 'forbidden', 404: 'repository_not_found' } as const;

/** A refusal that a variant is about, and the code it has under it; undefined: its own. */
interface RefusalRow {
  readonly holds: (refusal: Problem, request: RefusedRequest) => boolean;
  readonly code: (variants: Variants, request: RefusedRequest) => ProblemCode | undefined;
}

/** The first row that holds decides. */
const ROWS: readonly RefusalRow[] = [
  {
    holds: (refusal, request) => isOnGit(request) && isInvalidToken(refusal),
    code: ({ gitInvalidToken }) => GIT_CODES[gitInvalidToken],
  },
  {
    // Both tables say 403 of a search, so that nothing is left to choose.
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

/** A refusal with the code that it has under the chosen variants. */
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
