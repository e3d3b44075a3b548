import { ArmedFaults } from '../../faults/armed.js';
import { FAULTS } from '../../faults/fault.js';
import { checkState, type RepositoryState, repositoryNotFound } from '../../repositories/lifecycle.js';
import { meetState } from '../../repositories/meet-state.js';
import { throttled } from '../quota.js';
import type { RequestContext } from '../request-context.js';

/** Step: reads `X-Emulator-Fault`, once the operation is known and its dialect can word a mistake in it. */
export function armFaults(context: RequestContext): void {
  const header = context.request.headers['x-emulator-fault'];
  if (header === undefined || !context.inBandFaults) return;
  context.faults = ArmedFaults.parse(String(header), context.world.state.faults);
}

/** Whose requests a fault's counter counts: one token subject on one repository. */
function callerOf({ claims, organizationName }: RequestContext): string {
  return `${organizationName}\0${claims.repo ?? ''}\0${claims.sub}`;
}

/** Step: the quota of the caller. */
export function takeQuota(context: RequestContext): void {
  const fault = context.faults.take('quota', callerOf(context));
  if (!fault) return;
  context.faults.fired.push(fault.name);
  throw throttled({ remaining: 0, window: fault.retryAfter, retryAfter: fault.retryAfter });
}

/** Step: the repository the claim names. On a Git route and a preferred route the path named it as well. */
export function findRepository(context: RequestContext): void {
  const { operation, claims, world } = context;
  if (operation.subject !== 'repository') return;
  const repository = world.state.repositories.find(context.organizationName, claims.repo ?? '');
  if (!repository) {
    context.why.push(`${context.organizationName} has no repository ${JSON.stringify(claims.repo)}`);
    throw repositoryNotFound();
  }
  context.repository = repository;
}

/** Step: the repository's state, real or asked for; both are refused by the same table. */
export function checkRepositoryState(context: RequestContext): void {
  const { repository, operation, purpose, world, faults, params } = context;
  if (!repository) return;
  const affecting = { id: operation.id, effect: purpose.effect };
  // One import may take several pushes.
  if (repository.state === 'archived' && params.namespace === 'import') repository.restore();
  meetState(repository, affecting, world.moment);
  const fault = faults.take('state', callerOf(context));
  if (!fault) return;
  const row = FAULTS[fault.name] as { state: RepositoryState };
  try {
    checkState(row.state, affecting, world.variants, { retryAfter: fault.retryAfter });
    context.why.push(`fault ${fault.name}: the state does not stand in the way of ${operation.id}`);
  } catch (refusal) {
    faults.fired.push(fault.name);
    throw refusal;
  }
}
