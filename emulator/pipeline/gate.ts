import { repositoryNotFound } from '../repositories/lifecycle.js';
import type { RequestContext } from './request-context.js';

/**
 * Step: finds the repository that the claim `repo` of the token names. If the path also names a repository, an earlier
 * step has checked that both names are equal.
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

/** Step: refuses requests that the state of the repository (such as archived or deleted) does not permit. */
export function checkRepositoryState(context: RequestContext): void {
  const { found: repository, operation, purpose, world, params } = context;
  if (!repository) return;
  // A push of an import can move the repository into cold storage (variant `afterImport`). An import can consist of
  // several pushes, and the next one would be refused, so it first takes the repository out of cold storage.
  if (params.namespace === 'import' && repository.record.override === undefined) repository.restore();
  repository.meetState({ id: operation.id, effect: purpose.effect }, world.variants);
}
