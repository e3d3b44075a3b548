import { repositoryNotFound } from '../repositories/lifecycle.js';
import type { RequestContext } from './request-context.js';

/**
 * Step: finds the repository of the claim. On a Git route or a route with a repository in its path, the path equals the
 * claim.
 */
export function findRepository(context: RequestContext): void {
  const { operation, claims, world } = context;
  if (operation.subject !== 'repository') return;
  const repository = world.state.repositories.find(context.organizationName, claims.repo ?? '');
  if (!repository) {
    context.why.push(`${context.organizationName} has no repository ${JSON.stringify(claims.repo)}`);
    throw repositoryNotFound();
  }
  context.found = repository;
}

/** Step: refuses requests that the state of the repository does not permit. */
export function checkRepositoryState(context: RequestContext): void {
  const { found: repository, operation, purpose, world, params } = context;
  if (!repository) return;
  // An import can consist of several pushes, so each of them may write to a repository that is still importing.
  if (params.namespace === 'import' && repository.record.override === undefined) repository.restore();
  repository.meetState({ id: operation.id, effect: purpose.effect }, world.variants);
}
