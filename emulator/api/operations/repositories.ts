import { z } from 'zod';
import { problem } from '../../http/problem.js';
import { empty, json, type Reply } from '../../http/reply.js';
import { lazy } from '../../memory/lazy.js';
import { type HandlerContext, operationsOf } from '../../operation/operation.js';
import { branchRef, transact } from '../../repositories/branch-write.js';
import { copyFiles, copyHistory } from '../../repositories/copy.js';
import type { Repository } from '../../repositories/repository.js';
import { repositoryNameIssue } from '../../repositories/repository-name.js';
import { type Base, baseRepoBody, type ForkPoint, findForkPoint, readBase, requireAccess } from '../base-repository.js';
import { person, readBranch, readIdentity, readMessage } from '../fields.js';
import { hostingBody, hostingOfResponse, planHosting, requireMayChange, showHosting } from '../hosting.js';
import { openList, pageEnd, pageQuery } from '../paging.js';
import { repositoryRecord, showRepository } from '../records.js';
import { branchNotFound } from './branches.js';
import { syncRequestOf } from './upstream.js';

const operation = operationsOf('Repositories');

export const listRepositories = operation({
  summary: 'List the repositories of the organization',
  routes: [
    { method: 'GET', path: '/api/repos' },
    { method: 'GET', path: '/api/v1/repos' },
  ],
  scopes: ['org:read'],
  subject: 'organization',
  query: () => z.object({ ...pageQuery(), q: z.string().optional() }),
  replies: () => ({ 200: z.object({ repos: z.array(repositoryRecord()), ...pageEnd() }) }),
  handle: async (ctx) => {
    const { world, organization, query } = ctx;
    const text = query.q?.trim().toLowerCase() ?? '';
    const list = openList<number>(ctx, query, ['listRepositories', organization.name, text]);
    const matching = function* () {
      for (const repository of world.state.repositories.list(organization.name, list.position)) {
        yield repository.name.toLowerCase().includes(text) ? repository : undefined;
      }
    };
    const { page, end } = await list.take(matching(), ({ record }) => record.sequence);
    return json(200, { repos: page.map(showRepository), ...end });
  },
});

export const getRepository = operation({
  summary: 'Show the repository record',
  routes: [
    { method: 'GET', path: '/api/repos/{repo_name}' },
    { method: 'GET', path: '/api/v1/repo' },
  ],
  replies: () => ({ 200: repositoryRecord() }),
  handle: ({ repository }) => json(200, showRepository(repository)),
});

export const updateRepository = operation({
  summary: 'Change the default branch or the hosting project',
  routes: [
    { method: 'PATCH', path: '/api/repos/{repo_name}' },
    { method: 'PATCH', path: '/api/v1/repo' },
  ],
  scopes: ['repo:write'],
  body: () => z.object({ default_branch: z.string().optional(), deployment: hostingBody().optional() }),
  replies: () => ({ 200: repositoryRecord().extend({ deployment: hostingOfResponse() }) }),
  errors: ['hosting_not_enabled', 'branch_not_found', 'deployment_project_name_in_use'],
  handle: async (ctx) => {
    const { repository, body } = ctx;
    if (body.default_branch === undefined && body.deployment === undefined) {
      throw problem('bad_request', 'The body changes nothing: default_branch or deployment is required.');
    }
    const branch = body.default_branch === undefined ? undefined : readBranch(body.default_branch, 'default_branch');
    if (body.deployment) requireMayChange(ctx, body.deployment);
    const plan = () => body.deployment && planHosting(ctx, repository.name, repository, body.deployment);
    await transact(
      repository,
      (transaction) => {
        const head = branch === undefined ? undefined : branchRef(branch, false);
        if (head !== undefined && transaction.refs.get(head) === undefined) throw branchNotFound(body.default_branch!);
        if (head !== undefined) transaction.updateHead({ symref: head });
        transaction.alsoCommit(() => {
          const hosting = plan();
          if (hosting) repository.update({ hosting });
        });
      },
      // `plan` throws if the project name is taken. It is called before the write, then again in the same step as the
      // write, because another request may take the name in between.
      { check: plan },
    );
    const { hosting } = repository.record;
    return json(200, { ...showRepository(repository), ...(hosting && { deployment: showHosting(hosting) }) });
  },
});

export const deleteRepository = operation({
  summary: 'Delete the repository',
  routes: [
    { method: 'DELETE', path: '/api/repos/{repo_name}' },
    { method: 'DELETE', path: '/api/v1/repos/delete' },
  ],
  scopes: ['repo:write'],
  effect: 'delete',
  replies: () => ({ 200: z.object({ repo_id: z.string(), message: z.string() }) }),
  handle: ({ world, repository }) => {
    world.state.repositories.delete(repository);
    return json(200, {
      repo_id: repository.id,
      message: `Deletion of ${repository.id} was initiated; its storage is cleaned up later.`,
    });
  },
});

const createBody = lazy(() =>
  z.object({
    repo_name: z.string().optional(),
    default_branch: z.string().optional(),
    base_repo: baseRepoBody().nullish(),
    initial_commit: z.object({ message: z.string().optional(), author: person().optional() }).optional(),
    deployment: hostingBody().optional(),
  }),
);
type CreateBody = z.infer<ReturnType<typeof createBody>>;
type CreateContext = HandlerContext<{ default_branch?: string | undefined }, CreateBody>;

/** Default author of the only commit in a repository that is created as a snapshot. */
const SNAPSHOT_AUTHOR = { name: 'Repository Snapshot', email: 'snapshot@localhost' };

export const createRepository = operation({
  summary: 'Create the repository that the token names',
  routes: [
    { method: 'POST', path: '/api/repos' },
    { method: 'POST', path: '/api/v1/repos' },
  ],
  scopes: ['repo:write'],
  subject: 'new-repository',
  query: () => z.object({ default_branch: z.string().optional() }),
  body: () =>
    createBody()
      .optional()
      .transform((body) => body ?? {}),
  replies: () => ({
    201: repositoryRecord().extend({
      http_url: z.string(),
      message: z.string(),
      deployment: hostingOfResponse(),
    }),
  }),
  errors: [
    'repo_name_mismatch',
    'hosting_not_enabled',
    'repository_not_found',
    'ref_not_found',
    'conflict',
    'upstream_already_configured',
    'deployment_project_name_in_use',
    'repository_thawing',
    'forge_app_not_configured',
    'forge_repository_inaccessible',
  ],
  handle: async (ctx) => {
    const { world, claims, body } = ctx;
    const name = claims.repo!;
    if (body.repo_name !== undefined && body.repo_name !== name) {
      throw problem(
        'repo_name_mismatch',
        `repo_name is ${JSON.stringify(body.repo_name.slice(0, 100))}, but the token is for ${JSON.stringify(name)} (claim repo).`,
      );
    }
    requireRepositoryName(name);
    const base = body.base_repo ? readBase(body.base_repo) : undefined;
    if (body.initial_commit && base?.kind !== 'snapshot') {
      throw problem('bad_request', 'initial_commit is allowed only if base_repo.operation is snapshot.');
    }
    requireDefaultBranches(ctx);
    if (body.deployment) requireMayChange(ctx, body.deployment);
    const { duplicateRepository } = world.variants;
    const existing = base || duplicateRepository === '409' ? undefined : findExisting(ctx);
    if (existing) return created(ctx, existing, Number(duplicateRepository));
    requireFree(ctx, base);
    if (base?.kind === 'sync') {
      await requireAccess(ctx, base.repository);
      const repository = create(ctx, base, 'main');
      world.background.syncs.start(repository, syncRequestOf(ctx));
      return created(ctx, repository);
    }
    if (!base) return created(ctx, create(ctx, base, 'main'));
    const point = await findForkPoint(ctx, base);
    const repository = create(ctx, base, point.defaultBranch);
    // The fork shares the LFS objects of the source. Their bytes are not copied, and are counted only once.
    repository.update({ lfsObjects: point.source.record.lfsObjects });
    await copy(ctx, base, point, repository);
    return created(ctx, repository);
  },
});

/**
 * Creates the new repository. The checks are repeated in the same step as the creation, because their results may have
 * changed while the request waited.
 */
function create(ctx: CreateContext, base: Base | undefined, fallbackBranch: string): Repository {
  const { world, organization, claims, query, body } = ctx;
  requireFree(ctx, base);
  const hosting = body.deployment && planHosting(ctx, claims.repo!, undefined, body.deployment);
  return world.state.repositories.create(organization.name, claims.repo!, {
    defaultBranch: body.base_repo?.default_branch ?? body.default_branch ?? query.default_branch ?? fallbackBranch,
    ...(base?.kind === 'sync' && { baseRepo: base.repository }),
    ...(hosting && { hosting }),
  });
}

/**
 * Copies the history or files of the source to a new fork or snapshot. The new repository has the state `syncing` until
 * the copy is complete. It is removed if the copy fails.
 */
async function copy(
  { world, body }: CreateContext,
  base: Exclude<Base, { kind: 'sync' }>,
  { source, commit }: ForkPoint,
  repository: Repository,
): Promise<void> {
  if (commit === undefined) return;
  repository.update({ state: 'syncing' });
  try {
    if (base.kind === 'fork') await copyHistory(source, repository, commit);
    else {
      const { message = `Snapshot of ${source.name} at ${commit}`, author = SNAPSHOT_AUTHOR } =
        body.initial_commit ?? {};
      await copyFiles(source, repository, commit, {
        message: readMessage(message, 'initial_commit.message'),
        author: readIdentity(author, 'initial_commit.author', world.state.clock.now()),
      });
    }
    repository.update({ state: 'active' });
  } catch (error) {
    world.state.repositories.delete(repository);
    throw error;
  }
}

function created(
  { gitUrl, world }: CreateContext,
  repository: Repository,
  status: number = Number(world.variants.createStatus),
): Reply {
  const { name, hosting } = repository.record;
  if (status === 204) return empty(status);
  return json(status, {
    ...showRepository(repository),
    http_url: `${gitUrl}/${name.split('/').map(encodeURIComponent).join('/')}.git`,
    message: 'repository created',
    ...(hosting && { deployment: showHosting(hosting) }),
  });
}

/**
 * Throws if the name of the new repository is taken. The error is `upstream_already_configured` if both repositories
 * have an upstream, otherwise `conflict`.
 */
function requireFree(ctx: CreateContext, base: Base | undefined): void {
  const existing = findExisting(ctx);
  if (!existing) return;
  if (base?.kind === 'sync' && existing.record.baseRepo) {
    throw problem(
      'upstream_already_configured',
      'The repository already exists and has an upstream. Detach or delete it to use another one.',
    );
  }
  throw problem('conflict', `A repository with the name ${JSON.stringify(existing.name)} already exists.`);
}

function findExisting({ world, organization, claims }: CreateContext): Repository | undefined {
  const found = world.state.repositories.find(organization.name, claims.repo!);
  return found?.state === 'deleted' ? undefined : found;
}

function requireDefaultBranches({ body, query }: CreateContext): void {
  const given = {
    'base_repo.default_branch': body.base_repo?.default_branch,
    default_branch: body.default_branch ?? query.default_branch,
  };
  for (const [what, name] of Object.entries(given)) if (name !== undefined) readBranch(name, what);
}

function requireRepositoryName(name: string): void {
  const fault = repositoryNameIssue(name);
  if (fault !== undefined) throw problem('bad_request', `The repository name ${fault}.`);
}
