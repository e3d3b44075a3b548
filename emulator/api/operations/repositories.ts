import { z } from 'zod';
import { problem } from '../../http/problem.js';
import { json } from '../../http/reply.js';
import { operation } from '../../operation/operation.js';
import { branchRef, transact } from '../../repositories/branch-write.js';
import { readBranch } from '../fields.js';
import { hostingBody, hostingOfAnswer, planHosting, requireMayChange, showHosting } from '../hosting.js';
import { openList, pageEnd, pageQuery } from '../paging.js';
import { repositoryRecord, showRepository } from '../records.js';
import { branchNotFound } from './branches.js';

export const listRepositories = operation({
  group: 'Repositories',
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
  group: 'Repositories',
  summary: 'Show the repository record',
  routes: [
    { method: 'GET', path: '/api/repos/{repo_name}' },
    { method: 'GET', path: '/api/v1/repo' },
  ],
  replies: () => ({ 200: repositoryRecord() }),
  handle: ({ repository }) => json(200, showRepository(repository)),
});

export const updateRepository = operation({
  group: 'Repositories',
  summary: 'Change the default branch or the hosting project',
  routes: [
    { method: 'PATCH', path: '/api/repos/{repo_name}' },
    { method: 'PATCH', path: '/api/v1/repo' },
  ],
  scopes: ['repo:write'],
  body: () => z.object({ default_branch: z.string().optional(), deployment: hostingBody().optional() }),
  replies: () => ({ 200: repositoryRecord().extend({ deployment: hostingOfAnswer() }) }),
  errors: ['hosting_not_enabled', 'branch_not_found', 'deployment_project_name_in_use'],
  handle: async (ctx) => {
    const { repository, body } = ctx;
    if (body.default_branch === undefined && body.deployment === undefined) {
      throw problem('bad_request', 'default_branch or deployment is required.');
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
      // A name of a project can be taken until the step in which it is given.
      { check: plan },
    );
    const { hosting } = repository.record;
    return json(200, { ...showRepository(repository), ...(hosting && { deployment: showHosting(hosting) }) });
  },
});

export const deleteRepository = operation({
  group: 'Repositories',
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
