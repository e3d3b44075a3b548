import { z } from 'zod';
import { textOf } from '../../git/object/bytes.js';
import { problem } from '../../http/problem.js';
import { json, type Reply } from '../../http/reply.js';
import { lazy } from '../../memory/lazy.js';
import { type HandlerContext, operationsOf } from '../../operation/operation.js';
import { DEPLOYMENT_STATUSES, type Deployment, NO_DEPLOYMENTS, statusOf } from '../../repositories/deployments.js';
import type { HostingProject } from '../../repositories/hosting.js';
import type { Repository } from '../../repositories/repository.js';
import { emptyMap } from '../../repositories/sorted-records.js';
import { isoTime } from '../../time/iso-8601.js';
import { requireHosting } from '../hosting.js';
import { openList, pageEnd, pageQuery } from '../paging.js';
import { resolveRef } from '../resolve.js';

const operation = operationsOf('Deployments');

const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;

const target = lazy(() => z.enum(['preview', 'production']));

/** Schema of a deployment in responses. */
export const deploymentRecord = lazy(() =>
  z.object({
    id: z.string(),
    target: target(),
    ref: z.string(),
    commit_sha: z.string(),
    status: z.enum(DEPLOYMENT_STATUSES),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  }),
);

export function showDeployment(deployment: Deployment, now: number): z.infer<ReturnType<typeof deploymentRecord>> {
  const { status, at } = statusOf(deployment, now);
  return {
    id: deployment.id,
    target: deployment.target,
    ref: deployment.ref,
    commit_sha: deployment.commit,
    status,
    created_at: isoTime(deployment.createdAt),
    updated_at: isoTime(at),
  };
}

export const createDeployment = operation({
  summary: 'Deploy a revision, once per idempotency key',
  routes: [{ method: 'POST', path: '/api/repos/{repo_name}/deployments' }],
  scopes: ['deployment:write'],
  body: () =>
    z
      .object({ ref: z.string().optional(), target: target().optional() })
      .optional()
      .transform((body) => body ?? {}),
  replies: () => ({ 200: deploymentRecord(), 201: deploymentRecord() }),
  errors: ['hosting_not_enabled', 'hosting_project_not_found', 'ref_not_found', 'idempotency_key_reused'],
  handle: async (ctx) => {
    const { world, repository, body } = ctx;
    const project = requireProject(ctx);
    const key = readIdempotencyKey(ctx);
    const request = JSON.stringify([body.ref ?? null, body.target ?? null]);
    const earlier = madeBefore(repository, key, request);
    if (earlier !== undefined) return responseOf(ctx, 200, earlier, key);
    const chosen = body.target ?? 'preview';
    const ref = body.ref || defaultRef(ctx, project, chosen);
    const { commit } = await resolveRef(ctx, { ref });
    // The idempotency key is checked again after the `await`, because an identical request may have created the
    // deployment in the meantime.
    const meanwhile = madeBefore(repository, key, request);
    if (meanwhile !== undefined) return responseOf(ctx, 200, meanwhile, key);
    const deployments = repository.record.deployments ?? NO_DEPLOYMENTS;
    const deployment: Deployment = {
      id: world.state.ids.prefixed('deployment', 'dpl'),
      sequence: deployments.size + 1,
      target: chosen,
      ref,
      commit,
      createdAt: world.state.clock.now(),
    };
    const { deploymentKeys = emptyMap() } = repository.record;
    repository.update({
      deployments: deployments.with(deployment),
      ...(key !== undefined && { deploymentKeys: deploymentKeys.with(key, { request, id: deployment.id }, true) }),
    });
    return responseOf(ctx, 201, deployment, key);
  },
});

/**
 * Returns the deployment that an earlier request with this idempotency key created; undefined if there was none.
 * `request` is the content of the request as text. Throws `idempotency_key_reused` if the earlier request had different
 * content.
 */
function madeBefore(repository: Repository, key: string | undefined, request: string): Deployment | undefined {
  const { deployments, deploymentKeys } = repository.record;
  const earlier = key === undefined ? undefined : deploymentKeys?.get(key);
  if (earlier === undefined) return undefined;
  if (earlier.request !== request) {
    throw problem(
      'idempotency_key_reused',
      'Idempotency-Key was already used with another request body. Use a new key for each new request.',
    );
  }
  return deployments?.get(earlier.id);
}

function responseOf(
  { world, repository }: Pick<HandlerContext, 'world' | 'repository'>,
  status: 200 | 201,
  deployment: Deployment,
  key: string | undefined,
): Reply {
  return json(status, showDeployment(deployment, world.state.clock.now()), {
    location: `/api/repos/${encodeURIComponent(repository.name)}/deployments/${deployment.id}`,
    ...(key !== undefined && { 'idempotency-key': key }),
    ...(status === 200 && { 'idempotent-replayed': 'true' }),
  });
}

function readIdempotencyKey({ header }: Pick<HandlerContext, 'header'>): string | undefined {
  const key = header('idempotency-key');
  if (key === undefined || IDEMPOTENCY_KEY.test(key)) return key;
  throw problem('bad_request', 'Idempotency-Key must be 1 to 255 visible ASCII characters.');
}

function defaultRef(
  { repository }: Pick<HandlerContext, 'repository'>,
  project: HostingProject,
  chosen: string,
): string {
  const production = chosen === 'production' ? project.production_branch : null;
  return production ?? (repository.defaultBranch === undefined ? 'HEAD' : textOf(repository.defaultBranch));
}

/**
 * Returns the hosting project (deployment settings) of the repository. Throws `hosting_not_enabled` if the organization
 * may not deploy. Throws `hosting_project_not_found` if the repository has no project.
 */
function requireProject({
  organization,
  repository,
}: Pick<HandlerContext, 'organization' | 'repository'>): HostingProject {
  requireHosting(organization);
  const { hosting } = repository.record;
  if (hosting) return hosting;
  throw problem(
    'hosting_project_not_found',
    'The repository has no hosting project. Create one by updating the repository with the member deployment.',
  );
}

export const listDeployments = operation({
  summary: 'List the deployments, newest first',
  routes: [{ method: 'GET', path: '/api/repos/{repo_name}/deployments' }],
  scopes: ['deployment:read'],
  query: () => z.object(pageQuery()),
  replies: () => ({ 200: z.object({ deployments: z.array(deploymentRecord()), ...pageEnd() }) }),
  errors: ['hosting_not_enabled', 'hosting_project_not_found'],
  handle: async (ctx) => {
    const { world, repository, query } = ctx;
    requireProject(ctx);
    const list = openList<number>(ctx, query, ['listDeployments', repository.id]);
    const { deployments = NO_DEPLOYMENTS } = repository.record;
    const { page, end } = await list.take(deployments.reversed(list.position), ({ sequence }) => sequence);
    const now = world.state.clock.now();
    return json(200, {
      deployments: page.map((deployment) => showDeployment(deployment, now)),
      ...end,
    });
  },
});

export const getDeployment = operation({
  summary: 'Show one deployment',
  routes: [{ method: 'GET', path: '/api/repos/{repo_name}/deployments/{deployment_id}' }],
  scopes: ['deployment:read'],
  replies: () => ({ 200: deploymentRecord() }),
  errors: ['hosting_not_enabled', 'hosting_project_not_found', 'deployment_not_found'],
  handle: (ctx) => {
    requireProject(ctx);
    const deployment = ctx.repository.record.deployments?.get(ctx.params.deployment_id!);
    if (!deployment)
      throw problem(
        'deployment_not_found',
        `The repository has no deployment ${JSON.stringify(ctx.params.deployment_id)}.`,
      );
    return json(200, showDeployment(deployment, ctx.world.state.clock.now()));
  },
});
