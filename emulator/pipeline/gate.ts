import { repositoryNotFound } from '../repositories/lifecycle.js';
import type { RequestContext } from './request-context.js';

/** Step: the repository the claim names. On a Git route and a preferred route the path named it as well. */
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

/** Step: the repository's state. */
export function checkRepositoryState(context: RequestContext): void {
  const { found: repository, operation, purpose, world, params } = context;
  if (!repository) return;
  // One import may take several pushes.
  if (params.namespace === 'import' && repository.record.override === undefined) repository.restore();
  repository.meetState({ id: operation.id, effect: purpose.effect }, world.variants);
}
