import { repositoryNotFound } from '../repositories/lifecycle.js';
import type { RequestContext } from './request-context.js';

/**
 * Step: finds the repository that the token's claim `repo` names. An earlier step has compared the claim with the name
 * in the path, if the path has one.
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

/** Step: refuses requests that the repository's state, such as archived or deleted, does not permit. */
export function checkRepositoryState(context: RequestContext): void {
  const { found: repository, operation, purpose, world, params } = context;
  if (!repository) return;
  // Takes the repository out of cold storage before a push of an import. With the variant `afterImport`, the previous
  // push of the same import may have moved it there, and the next push would be refused.
  if (params.namespace === 'import' && repository.record.override === undefined) repository.restore();
  repository.meetState({ id: operation.id, effect: purpose.effect }, world.variants);
}
