import { AUTHOR } from '../../api/requests.js';
import { reserveName } from '../../fixtures/repositories.js';
import { contentOperations } from './content-operations.js';
import { each, GIT_READ, GIT_WRITE, type Operation, operation, PAGE, REPO_WRITE, STATS, strings } from './operation.js';
import type { Shape } from './shape.js';

const RECORD = strings('repo_id', 'url', 'default_branch', 'created_at');
const GIT_CREDENTIAL = strings('id');
const DEPLOYMENT = strings('id', 'target', 'ref', 'commit_sha', 'status', 'created_at', 'updated_at');
const MESSAGE = strings('message');

export const MERGER = { commit_message: 'Merge', author: AUTHOR };

/** Routes that do not end alike. */
const OF_ORGANIZATION = { preferred: '/api/repos' };
const RECORD_ROUTE = { v1: '/api/v1/repo' };

const repositories: readonly Operation[] = [
  operation(
    'list repositories',
    ['GET ', OF_ORGANIZATION],
    ['org:read'],
    200,
    { ...each('repos', RECORD), ...PAGE },
    () => ({ repo: 'org', query: { limit: '2' } }),
  ),
  operation(
    'create repository',
    ['POST ', OF_ORGANIZATION],
    REPO_WRITE,
    201,
    strings('repo_id', 'url', 'http_url', 'message'),
    async (repository) => ({ repo: await reserveName(repository.t) }),
  ),
  operation('get repository', ['GET ', RECORD_ROUTE], GIT_READ, 200, RECORD),
  operation(
    'update repository',
    ['PATCH ', RECORD_ROUTE],
    REPO_WRITE,
    200,
    strings('repo_id', 'default_branch'),
    () => ({ json: { default_branch: 'main' } }),
  ),
  operation(
    'delete repository',
    ['DELETE ', { v1: '/api/v1/repos/delete' }],
    REPO_WRITE,
    200,
    strings('repo_id', 'message'),
    async (repository) => ({ repo: await repository.createRepository() }),
  ),
  operation('organization metadata', ['GET ', { preferred: '/api/meta', v1: undefined }], ['org:read'], 200, {}),
];

const BRANCH = strings('cursor', 'name', 'head_sha', 'created_at');
const CREATED: Shape = { ...strings('message', 'target_branch'), target_is_ephemeral: 'boolean' };
const MERGE: Shape = {
  ...strings('result', 'commit_sha', 'tree_sha', 'source.branch', 'source.sha'),
  ...strings('target.branch', 'target.old_sha', 'target.new_sha'),
  'source.ephemeral': 'boolean',
  'target.ephemeral': 'boolean',
  promoted_commits: 'number',
};
const PREVIEW: Shape = {
  ...strings('status', 'result', 'source_branch', 'target_branch', 'source_tip_sha', 'target_tip_sha'),
  conflict_paths: 'array',
  conflicts: 'array',
  filtered_conflicts: 'array',
};

const branches: readonly Operation[] = [
  operation('list branches', ['GET /branches'], GIT_READ, 200, { ...each('branches', BRANCH), ...PAGE }),
  operation(
    'get branch',
    ['GET /branch'],
    GIT_READ,
    200,
    strings('branch.name', 'branch.head_sha', 'branch.created_at'),
    () => ({ query: { name: 'main' } }),
  ),
  operation('create branch', ['POST /branches/create'], GIT_WRITE, 200, CREATED, (repository) => ({
    json: { target_branch: repository.unusedName('made'), base_branch: 'main' },
  })),
  operation('delete branch', ['DELETE /branches'], GIT_WRITE, 200, strings('name', 'message'), async (repository) => ({
    json: { name: await repository.createBranch() },
  })),
  operation(
    'branch diff',
    ['GET /branches/diff'],
    GIT_READ,
    200,
    { ...strings('branch', 'base'), ...STATS },
    async (repository) => ({ query: { branch: await repository.createBranch(), base: 'main' } }),
  ),
  operation('merge', ['POST /merge'], GIT_WRITE, 200, MERGE, async (repository) => ({
    json: {
      source_branch: await repository.createBranch(),
      target_branch: await repository.createBranch(),
      strategy: 'merge',
      ...MERGER,
    },
  })),
  operation('merge preview', ['GET /merge/preview'], GIT_READ, 200, PREVIEW, async (repository) => ({
    query: { source_branch: await repository.createBranch(), target_branch: 'main' },
  })),
];

const tags: readonly Operation[] = [
  operation('create tag', ['POST /tags'], GIT_WRITE, 200, strings('name', 'sha', 'message'), (repository) => ({
    json: { name: repository.unusedName('v'), target: repository.tip },
  })),
  operation(
    'list tags',
    ['GET /tags'],
    GIT_READ,
    200,
    { ...each('tags', strings('cursor', 'name', 'sha')), ...PAGE },
    async (repository) => {
      await repository.createTag();
      return {};
    },
  ),
  operation('get tag', ['GET /tag'], GIT_READ, 200, strings('tag.name', 'tag.sha'), async (repository) => ({
    query: { name: await repository.createTag() },
  })),
  operation(
    'delete tag',
    ['DELETE /tags/{tag}', { v1: '/api/v1/repos/tags' }],
    ['git:read', 'git:write'],
    200,
    strings('name', 'message'),
    async (repository, family) => {
      const name = await repository.createTag();
      return family === 'v1' ? { json: { name } } : { params: { tag: name } };
    },
  ),
];

/** Older routes have the id in the body. */
const BY_ID = { v1: '/api/v1/repos/git-credentials' };

const upstream: readonly Operation[] = [
  operation(
    'create Git credential',
    ['POST /git-credentials'],
    REPO_WRITE,
    201,
    GIT_CREDENTIAL,
    async (repository) => ({ repo: await repository.createRepository(), json: { username: 'u', password: 'p' } }),
  ),
  operation(
    'update Git credential',
    ['PUT /git-credentials/{id}', BY_ID],
    REPO_WRITE,
    200,
    GIT_CREDENTIAL,
    async (repository, family) => {
      const { repo, id } = await repository.createGitCredential();
      const json = { password: 'q' };
      return family === 'v1' ? { repo, json: { id, ...json } } : { repo, params: { id }, json };
    },
  ),
  operation(
    'delete Git credential',
    ['DELETE /git-credentials/{id}', BY_ID],
    REPO_WRITE,
    204,
    {},
    async (repository, family) => {
      const { repo, id } = await repository.createGitCredential();
      return family === 'v1' ? { repo, json: { id } } : { repo, params: { id } };
    },
  ),
  operation('pull upstream', ['POST /pull-upstream'], GIT_WRITE, 202, MESSAGE, async (repository) => ({
    repo: await repository.createWithUpstream(),
    json: {},
  })),
  operation('detach base', ['DELETE /base'], REPO_WRITE, 200, MESSAGE, async (repository) => ({
    repo: await repository.createWithUpstream(),
  })),
];

const NO_ALIAS = { v1: undefined };

const deployments: readonly Operation[] = [
  operation(
    'create deployment',
    ['POST /deployments', NO_ALIAS],
    ['deployment:write'],
    201,
    DEPLOYMENT,
    async (repository) => {
      await repository.ensureHosting();
      return { json: { ref: 'main' }, headers: { 'idempotency-key': repository.unusedName('key') } };
    },
  ),
  operation(
    'list deployments',
    ['GET /deployments', NO_ALIAS],
    ['deployment:read'],
    200,
    { ...each('deployments', DEPLOYMENT), ...PAGE },
    async (repository) => {
      await repository.createDeployment();
      return {};
    },
  ),
  operation(
    'get deployment',
    ['GET /deployments/{id}', NO_ALIAS],
    ['deployment:read'],
    200,
    DEPLOYMENT,
    async (repository) => ({ params: { id: await repository.createDeployment() } }),
  ),
];

/** Every operation that published clients call. */
export const OPERATIONS: readonly Operation[] = [
  ...repositories,
  ...branches,
  ...contentOperations,
  ...tags,
  ...upstream,
  ...deployments,
];
