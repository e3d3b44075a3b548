import { z } from 'zod';
import { operation } from '../http/operation.js';
import { problem } from '../http/problem.js';
import { json } from '../http/reply.js';
import { readBranch } from './fields.js';
import { cursorsOf, listPurpose, pageEnd, pageQuery, readLimit, takePage } from './paging.js';
import { repositoryRecord, showRepository } from './records.js';

const CAP = 100;
const MOST_NAME_BYTES = 255;

export const listRepositories = operation({
  id: 'listRepositories',
  group: 'Repositories',
  summary: 'List the repositories of the organization',
  routes: [
    { method: 'GET', path: '/api/repos' },
    { method: 'GET', path: '/api/v1/repos' },
  ],
  scopes: ['org:read'],
  subject: 'organization',
  effect: 'read',
  query: z.object({ ...pageQuery, q: z.string().optional() }),
  replies: { 200: z.object({ repos: z.array(repositoryRecord), ...pageEnd }) },
  errors: [400],
  handle: ({ world, organization, query, claims }) => {
    const limit = readLimit(query.limit, CAP);
    const text = query.q?.trim().toLowerCase() ?? '';
    const cursors = cursorsOf(world);
    const purpose = listPurpose({ claims: { ...claims, repo: '' } }, 'listRepositories', text);
    const after = query.cursor === undefined ? 0 : cursors.read<number>(purpose, query.cursor);
    const matching = function* () {
      for (const repository of world.repositories(organization.name, after)) {
        if (repository.name.toLowerCase().includes(text)) yield repository;
      }
    };
    const { page, hasMore } = takePage(matching(), limit);
    return json(200, {
      repos: page.map(showRepository),
      next_cursor: hasMore ? cursors.write(purpose, page.at(-1)!.record.sequence) : null,
      has_more: hasMore,
    });
  },
});

export const createRepository = operation({
  id: 'createRepository',
  group: 'Repositories',
  summary: 'Create the repository that the token names',
  routes: [
    { method: 'POST', path: '/api/repos' },
    { method: 'POST', path: '/api/v1/repos' },
  ],
  scopes: ['repo:write'],
  subject: 'new-repository',
  effect: 'write',
  query: z.object({ default_branch: z.string().optional() }),
  reads: 'json',
  body: z
    .object({ repo_name: z.string().optional(), default_branch: z.string().optional() })
    .optional()
    .transform((body) => body ?? {}),
  replies: { 201: repositoryRecord.extend({ http_url: z.string(), message: z.string() }) },
  errors: [400, 409, 412],
  handle: ({ world, organization, claims, query, body, gitUrl }) => {
    const name = claims.repo!;
    if (body.repo_name !== undefined && body.repo_name !== name) {
      throw problem('repo_name_mismatch', 'repo_name differs from the repo claim of the token.');
    }
    requireRepositoryName(name);
    const defaultBranch = body.default_branch ?? query.default_branch ?? 'main';
    readBranch(defaultBranch, 'default_branch');
    const existing = world.repository(organization.name, name);
    if (existing && existing.record.state !== 'deleted') {
      throw problem('conflict', 'A repository of this name exists already.');
    }
    const repository = world.createRepository(organization.name, name, { defaultBranch });
    return json(201, {
      ...showRepository(repository),
      http_url: `${gitUrl}/${name.split('/').map(encodeURIComponent).join('/')}.git`,
      message: 'repository created',
    });
  },
});

/**
 * Which names can be created. The specification states no rule; these are the ones without which a name
 * could not be written into a Git URL and read back.
 */
function requireRepositoryName(name: string): void {
  const fail = (why: string) => problem('bad_request', `The repository name ${why}.`);
  if (name === '') throw fail('is empty');
  if (Buffer.byteLength(name) > MOST_NAME_BYTES) throw fail(`is longer than ${MOST_NAME_BYTES} bytes`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\x00-\x1f\x7f\\]|\p{Surrogate}/u.test(name))
    throw fail('holds a control character, a backslash or a lone surrogate');
  if (name.split('/').some((segment) => segment === '' || segment === '.' || segment === '..')) {
    throw fail('has an empty, . or .. segment');
  }
  if (/\+(ephemeral|import)$/.test(name)) throw fail('ends like a Git remote for ephemeral refs or imports');
}

export const getRepository = operation({
  id: 'getRepository',
  group: 'Repositories',
  summary: 'Show the repository record',
  routes: [
    { method: 'GET', path: '/api/repos/{repo_name}' },
    { method: 'GET', path: '/api/v1/repo' },
  ],
  scopes: ['git:read'],
  subject: 'repository',
  effect: 'read',
  replies: { 200: repositoryRecord },
  errors: [404],
  handle: ({ repository }) => json(200, showRepository(repository)),
});

export const deleteRepository = operation({
  id: 'deleteRepository',
  group: 'Repositories',
  summary: 'Delete the repository',
  routes: [
    { method: 'DELETE', path: '/api/repos/{repo_name}' },
    { method: 'DELETE', path: '/api/v1/repos/delete' },
  ],
  scopes: ['repo:write'],
  subject: 'repository',
  effect: 'delete',
  replies: { 200: z.object({ repo_id: z.string(), message: z.string() }) },
  errors: [404, 409],
  handle: ({ world, repository }) => {
    world.deleteRepository(repository);
    return json(200, {
      repo_id: repository.id,
      message: `Deletion of ${repository.id} was initiated; its storage is cleaned up later.`,
    });
  },
});
