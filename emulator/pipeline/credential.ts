import type { Verified } from '../auth/authenticate.js';
import { requireRepo, requireScopes } from '../auth/claims.js';
import { authorizationOf } from '../auth/credentials.js';
import { problem } from '../http/problem.js';
import { repositoryNotFound } from '../repositories/lifecycle.js';
import type { RequestContext } from './request-context.js';

/** Step: refuses requests while the organization cannot verify tokens. */
export function checkAuthenticationAvailable({ organization }: RequestContext): void {
  if (!organization.authenticationAvailable) {
    throw problem('authentication_unavailable', 'Credentials cannot be verified at present; retry later.');
  }
}

/**
 * Step: verifies the credential, its signature and its claims. Runs before the body is read. Only the first use of a
 * token waits for the signature check; later uses find it in a cache.
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

/** Step: requires the `repo` claim if the operation is about a repository. */
export function checkRepositoryClaim({ operation, claims }: RequestContext): void {
  if (operation.subject !== 'organization') requireRepo(claims);
}

/** Step: requires that the repository in the path equals the claim, code unit by code unit. */
export function comparePathWithClaim(context: RequestContext): void {
  const { params, claims } = context;
  if (params.repo_name !== undefined && params.repo_name !== claims.repo) {
    context.why.push(
      `the path names ${JSON.stringify(params.repo_name)}, the repo claim ${JSON.stringify(claims.repo)}`,
    );
    throw repositoryNotFound();
  }
}

/** Step: requires the scopes of the request's purpose. */
export function checkScope({ claims, purpose, operation, world }: RequestContext): void {
  if (operation.id === 'getRepository' && world.variants.repositoryScope === 'any') return;
  requireScopes(claims, purpose.scopes);
}
