import type { Verified } from '../auth/authenticate.js';
import { requireRepo, requireScopes } from '../auth/claims.js';
import { authorizationOf } from '../auth/credentials.js';
import { problem } from '../http/problem.js';
import { repositoryNotFound } from '../repositories/lifecycle.js';
import type { RequestContext } from './request-context.js';

/** Step: refuses all requests of an organization while a test has made its token verification unavailable. */
export function checkAuthenticationAvailable({ organization }: RequestContext): void {
  if (!organization.authenticationAvailable) {
    throw problem('authentication_unavailable', 'Credentials cannot be verified at present; retry later.');
  }
}

/**
 * Step: verifies the credential, its signature and its claims. It runs before the body is read, so that only clients
 * with a valid token can make the service read a body.
 *
 * Only the first request with a token waits for the signature check. Later requests find the result in a cache.
 */
export function authenticate(context: RequestContext): void | Promise<void> {
  const { world, organization, operation, request } = context;
  const { authenticator } = world.engine;
  const surface = operation.group === 'Git' ? 'git' : 'api';
  const question = world.authenticationOf(authorizationOf(request.rawHeaders), surface, organization);
  const accept = (verified: Verified): void => {
    context.verified = verified;
    context.claims = verified.claims;
  };
  const known = authenticator.recall(question);
  if (known) accept(known);
  else return authenticator.prove(question).then(accept);
}

/** Step: requires the claim `repo` (name of a repository) in the token if the operation is about a repository. */
export function checkRepositoryClaim({ operation, claims }: RequestContext): void {
  if (operation.subject !== 'organization') requireRepo(claims);
}

/**
 * Step: requires that the repository name in the path equals the claim `repo`. The names are compared by code units,
 * without normalization.
 */
export function comparePathWithClaim(context: RequestContext): void {
  const { params, claims } = context;
  if (params.repo_name !== undefined && params.repo_name !== claims.repo) {
    context.why.push(
      `the path names ${JSON.stringify(params.repo_name)}, the repo claim ${JSON.stringify(claims.repo)}`,
    );
    throw repositoryNotFound();
  }
}

/**
 * Step: requires that the token has the scopes of the request's purpose. The purpose is the operation, or the part of
 * it that the query and body select.
 */
export function checkScope({ claims, purpose, operation, world }: RequestContext): void {
  if (operation.id === 'getRepository' && world.variants.repositoryScope === 'any') return;
  requireScopes(claims, purpose.scopes);
}
