import { AUTHOR } from '../../api/requests.js';
import { reserveName } from '../../fixtures/repositories.js';
import { contentOperations } from './content-operations.js';
import { each, GIT_READ, GIT_WRITE, type Operation, operation, PAGE, REPO_WRITE, STATS } from './operation.js';
import type { Shape } from './shape.js';

const RECORD: Shape = { repo_id: 'string', url: 'string', default_branch: 'string', created_at: 'string' };
const GIT_CREDENTIAL: Shape = { id: 'string' };
const DEPLOYMENT: Shape = {
  id: 'string',
  target: 'string',
  ref: 'string',
  commit_sha: 'string',
  status: 'string',
  created_at: 'string',
  updated_at: 'string',
};

export const MERGER = { commit_message: 'Merge', author: AUTHOR };

const repositories: readonly Operation[] = [
  operation(
    'list repositories',
    'GET ',
    ['org:read'],
    200,
    () => ({ repo: 'org', query: { limit: '2' } }),
    { ...each('repos', RECORD), ...PAGE },
    { preferred: '/api/repos' },
  ),
  operation(
    'create repository',
    'POST ',
    REPO_WRITE,
    201,
    async (repository) => ({ repo: await reserveName(repository.t) }),
    { repo_id: 'string', url: 'string', http_url: 'string', message: 'string' },
    { preferred: '/api/repos' },
  ),
  operation('get repository', 'GET ', GIT_READ, 200, () => ({}), RECORD, { v1: '/api/v1/repo' }),
  operation(
    'update repository',
    'PATCH ',
    REPO_WRITE,
    200,
    () => ({ json: { default_branch: 'main' } }),
    { repo_id: 'string', default_branch: 'string' },
    { v1: '/api/v1/repo' },
  ),
  operation(
    'delete repository',
    'DELETE ',
    REPO_WRITE,
    200,
    async (repository) => ({ repo: await repository.createRepository() }),
    { repo_id: 'string', message: 'string' },
    { v1: '/api/v1/repos/delete' },
  ),
  {
    name: 'organization metadata',
    method: 'GET',
    routes: { preferred: '/api/meta', v1: undefined },
    scopes: ['org:read'],
    ok: [200],
    shape: {},
    request: () => ({}),
  },
];

const branches: readonly Operation[] = [
  operation('list branches', 'GET /branches', GIT_READ, 200, () => ({}), {
    ...each('branches', { cursor: 'string', name: 'string', head_sha: 'string', created_at: 'string' }),
    ...PAGE,
  }),
  operation('get branch', 'GET /branch', GIT_READ, 200, () => ({ query: { name: 'main' } }), {
    'branch.name': 'string',
    'branch.head_sha': 'string',
    'branch.created_at': 'string',
  }),
  operation(
    'create branch',
    'POST /branches/create',
    GIT_WRITE,
    200,
    (repository) => ({ json: { target_branch: repository.unusedName('made'), base_branch: 'main' } }),
    { message: 'string', target_branch: 'string', target_is_ephemeral: 'boolean' },
  ),
  operation(
    'delete branch',
    'DELETE /branches',
    GIT_WRITE,
    200,
    async (repository) => ({ json: { name: await repository.createBranch() } }),
    {
      name: 'string',
      message: 'string',
    },
  ),
  operation(
    'branch diff',
    'GET /branches/diff',
    GIT_READ,
    200,
    async (repository) => ({ query: { branch: await repository.createBranch(), base: 'main' } }),
    { branch: 'string', base: 'string', ...STATS },
  ),
  operation(
    'merge',
    'POST /merge',
    GIT_WRITE,
    200,
    async (repository) => ({
      json: {
        source_branch: await repository.createBranch(),
        target_branch: await repository.createBranch(),
        strategy: 'merge',
        ...MERGER,
      },
    }),
    {
      result: 'string',
      commit_sha: 'string',
      tree_sha: 'string',
      'source.branch': 'string',
      'source.ephemeral': 'boolean',
      'source.sha': 'string',
      'target.branch': 'string',
      'target.ephemeral': 'boolean',
      'target.old_sha': 'string',
      'target.new_sha': 'string',
      promoted_commits: 'number',
    },
  ),
  operation(
    'merge preview',
    'GET /merge/preview',
    GIT_READ,
    200,
    async (repository) => ({ query: { source_branch: await repository.createBranch(), target_branch: 'main' } }),
    {
      status: 'string',
      result: 'string',
      source_branch: 'string',
      target_branch: 'string',
      source_tip_sha: 'string',
      target_tip_sha: 'string',
      conflict_paths: 'array',
      conflicts: 'array',
      filtered_conflicts: 'array',
    },
  ),
];

const tags: readonly Operation[] = [
  operation(
    'create tag',
    'POST /tags',
    GIT_WRITE,
    200,
    (repository) => ({ json: { name: repository.unusedName('v'), target: repository.tip } }),
    {
      name: 'string',
      sha: 'string',
      message: 'string',
    },
  ),
  operation(
    'list tags',
    'GET /tags',
    GIT_READ,
    200,
    async (repository) => {
      await repository.createTag();
      return {};
    },
    {
      ...each('tags', { cursor: 'string', name: 'string', sha: 'string' }),
      ...PAGE,
    },
  ),
  operation(
    'get tag',
    'GET /tag',
    GIT_READ,
    200,
    async (repository) => ({ query: { name: await repository.createTag() } }),
    {
      'tag.name': 'string',
      'tag.sha': 'string',
    },
  ),
  operation(
    'delete tag',
    'DELETE /tags/{tag}',
    ['git:read', 'git:write'],
    200,
    async (repository, family) => {
      const name = await repository.createTag();
      return family === 'v1' ? { json: { name } } : { params: { tag: name } };
    },
    { name: 'string', message: 'string' },
    { v1: '/api/v1/repos/tags' },
  ),
];

const upstream: readonly Operation[] = [
  operation(
    'create Git credential',
    'POST /git-credentials',
    REPO_WRITE,
    201,
    async (repository) => ({
      repo: await repository.createRepository(),
      json: { username: 'u', password: 'p' },
    }),
    GIT_CREDENTIAL,
  ),
  operation(
    'update Git credential',
    'PUT /git-credentials/{id}',
    REPO_WRITE,
    200,
    async (repository, family) => {
      const { repo, id } = await repository.createGitCredential();
      return family === 'v1'
        ? { repo, json: { id, password: 'q' } }
        : { repo, params: { id }, json: { password: 'q' } };
    },
    GIT_CREDENTIAL,
    { v1: '/api/v1/repos/git-credentials' },
  ),
  operation(
    'delete Git credential',
    'DELETE /git-credentials/{id}',
    REPO_WRITE,
    204,
    async (repository, family) => {
      const { repo, id } = await repository.createGitCredential();
      return family === 'v1' ? { repo, json: { id } } : { repo, params: { id } };
    },
    {},
    { v1: '/api/v1/repos/git-credentials' },
  ),
  operation(
    'pull upstream',
    'POST /pull-upstream',
    GIT_WRITE,
    202,
    async (repository) => ({
      repo: await repository.createWithUpstream(),
      json: {},
    }),
    { message: 'string' },
  ),
  operation(
    'detach base',
    'DELETE /base',
    REPO_WRITE,
    200,
    async (repository) => ({ repo: await repository.createWithUpstream() }),
    {
      message: 'string',
    },
  ),
];

const NO_ALIAS = { v1: undefined };

const deployments: readonly Operation[] = [
  operation(
    'create deployment',
    'POST /deployments',
    ['deployment:write'],
    201,
    async (repository) => {
      await repository.ensureHosting();
      return { json: { ref: 'main' }, headers: { 'idempotency-key': repository.unusedName('key') } };
    },
    DEPLOYMENT,
    NO_ALIAS,
  ),
  operation(
    'list deployments',
    'GET /deployments',
    ['deployment:read'],
    200,
    async (repository) => {
      await repository.createDeployment();
      return {};
    },
    { ...each('deployments', DEPLOYMENT), ...PAGE },
    NO_ALIAS,
  ),
  operation(
    'get deployment',
    'GET /deployments/{id}',
    ['deployment:read'],
    200,
    async (repository) => ({ params: { id: await repository.createDeployment() } }),
    DEPLOYMENT,
    NO_ALIAS,
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
