import { checkState, repositoryNotFound } from '../../repositories/lifecycle.js';
import type { RequestContext } from '../request-context.js';

/** Seconds a client is told to wait when a state does not say how long it lasts. */
const RETRY_AFTER = 1;

/** Step: the repository the claim names. On a Git route and a preferred route the path named it as well. */
export function findRepository(context: RequestContext): void {
  const { operation, claims, world } = context;
  if (operation.subject !== 'repository') return;
  const repository = world.state.repositories.find(context.organizationName, claims.repo ?? '');
  if (!repository) throw repositoryNotFound();
  context.repository = repository;
}

/** Step: the repository's state. */
export function checkRepositoryState(context: RequestContext): void {
  const { repository, operation, purpose, world, params } = context;
  if (!repository) return;
  const { state } = repository.record;
  repository.restore();
  // One import may take several pushes.
  if (state === 'active' || (state === 'archived' && params.namespace === 'import')) return;
  const affecting = { id: operation.id, effect: purpose.effect };
  checkState(state, affecting, world.config.variants, { retryAfter: RETRY_AFTER });
}
