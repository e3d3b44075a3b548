import { z } from 'zod';
import { decide } from '../../auth/policy.js';
import { bytesOf, textOf } from '../../git/object/bytes.js';
import { problem } from '../../http/problem.js';
import { json } from '../../http/reply.js';
import { lazy } from '../../memory/lazy.js';
import { type HandlerContext, operationsOf, routesOfRepository } from '../../operation/operation.js';
import { branchRef } from '../../repositories/branch-write.js';
import type { SyncRequest } from '../../upstream/syncs.js';
import { requireForgeApp } from '../base-repository.js';
import { requireAllowed } from '../policy.js';

const operation = operationsOf('Repositories');

const NO_NAME = bytesOf('');

const message = lazy(() => z.object({ message: z.string() }));

export const pullUpstream = operation({
  summary: 'Start a sync with the upstream',
  routes: routesOfRepository('POST', 'pull-upstream'),
  // Clients send the undocumented members `ref` and `after`. They are accepted but ignored, because a sync always
  // covers all branches and tags.
  body: () => z.object({ ref: z.string().optional(), after: z.string().optional() }).optional(),
  replies: () => ({ 202: message() }),
  errors: ['forge_app_not_configured'],
  handle: (ctx) => {
    const { world, organization, repository } = ctx;
    const { baseRepo } = repository.record;
    if (!baseRepo)
      throw problem(
        'bad_request',
        'The repository has no upstream to fetch from. Create a repository with base_repo to have one.',
      );
    if (baseRepo.access === 'app') requireForgeApp(organization);
    requireAllowed(ctx, branchRef(repository.defaultBranch ?? NO_NAME, false));
    world.background.syncs.start(repository, syncRequestOf(ctx));
    return json(202, { message: 'Repository sync initiated successfully' });
  },
});

/**
 * Returns the options of a sync (fetch from the upstream into the repository). The sync does not change refs that the
 * policy in the request's token protects.
 */
export function syncRequestOf({ claims }: Pick<HandlerContext, 'claims'>): SyncRequest {
  const { policy } = claims;
  if (policy.length === 0) return {};
  return {
    mayMove: ({ name }, isForced) => decide(policy, textOf(name), isForced ? 'force' : 'push') === undefined,
  };
}

export const detachBase = operation({
  summary: 'Detach the repository from its upstream',
  routes: routesOfRepository('DELETE', 'base'),
  scopes: ['repo:write'],
  replies: () => ({ 200: message() }),
  handle: ({ repository }) => {
    repository.update({ baseRepo: undefined });
    return json(200, { message: 'repository detached' });
  },
});
