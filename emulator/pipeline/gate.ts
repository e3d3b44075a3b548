import { repositoryNotFound } from '../repositories/lifecycle.js';
import type { RequestContext } from './request-context.js';

/**
 * Step: finds the repository in the token's claim `repo`. If the path also names a repository, an earlier step has
 * checked that both names are equal.
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

/**
 * Step: refuses requests that the state of the repository does not permit, such as a write to an archived repository.
 */
export function checkRepositoryState(context: RequestContext): void {
  const { found: repository, operation, purpose, world, params } = context;
  if (!repository) return;
  // An import can consist of several pushes. With the variant `afterImport`, a push can move the repository into cold
  // storage, which would refuse the next push. So a push of an import first restores the repository.
  if (params.namespace === 'import' && repository.record.override === undefined) repository.restore();
  repository.meetState({ id: operation.id, effect: purpose.effect }, world.variants);
}
