import { AUTHOR } from '../../api/requests.js';
import { contentOperations } from './content-operations.js';
import { each, KEEP, type Operation, operation, PAGE, READ, STATS, WRITE } from './operation.js';
import type { Shape } from './shape.js';

const RECORD: Shape = { repo_id: 'string', url: 'string', default_branch: 'string', created_at: 'string' };
const CREDENTIAL: Shape = { id: 'string' };
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
    KEEP,
    201,
    async (bed) => ({ repo: await bed.absent() }),
    { repo_id: 'string', url: 'string', http_url: 'string', message: 'string' },
    { preferred: '/api/repos' },
  ),
  operation('get repository', 'GET ', READ, 200, () => ({}), RECORD, { v1: '/api/v1/repo' }),
  operation(
    'update repository',
    'PATCH ',
    KEEP,
    200,
    () => ({ json: { default_branch: 'main' } }),
    { repo_id: 'string', default_branch: 'string' },
    { v1: '/api/v1/repo' },
  ),
  operation(
    'delete repository',
    'DELETE ',
    KEEP,
    200,
    async (bed) => ({ repo: await bed.another() }),
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
    demand: () => ({}),
  },
];

const branches: readonly Operation[] = [
  operation('list branches', 'GET /branches', READ, 200, () => ({}), {
    ...each('branches', { cursor: 'string', name: 'string', head_sha: 'string', created_at: 'string' }),
    ...PAGE,
  }),
  operation('get branch', 'GET /branch', READ, 200, () => ({ query: { name: 'main' } }), {
    'branch.name': 'string',
    'branch.head_sha': 'string',
    'branch.created_at': 'string',
  }),
  operation(
    'create branch',
    'POST /branches/create',
    WRITE,
    200,
    (bed) => ({ json: { target_branch: bed.unused('made'), base_branch: 'main' } }),
    { message: 'string', target_branch: 'string', target_is_ephemeral: 'boolean' },
  ),
  operation('delete branch', 'DELETE /branches', WRITE, 200, async (bed) => ({ json: { name: await bed.branch() } }), {
    name: 'string',
    message: 'string',
  }),
  operation(
    'branch diff',
    'GET /branches/diff',
    READ,
    200,
    async (bed) => ({ query: { branch: await bed.branch(), base: 'main' } }),
    { branch: 'string', base: 'string', ...STATS },
  ),
  operation(
    'merge',
    'POST /merge',
    WRITE,
    200,
    async (bed) => ({
      json: { source_branch: await bed.branch(), target_branch: await bed.branch(), strategy: 'merge', ...MERGER },
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
    READ,
    200,
    async (bed) => ({ query: { source_branch: await bed.branch(), target_branch: 'main' } }),
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
  operation('create tag', 'POST /tags', WRITE, 200, (bed) => ({ json: { name: bed.unused('v'), target: bed.tip } }), {
    name: 'string',
    sha: 'string',
    message: 'string',
  }),
  operation(
    'list tags',
    'GET /tags',
    READ,
    200,
    async (bed) => {
      await bed.tag();
      return {};
    },
    {
      ...each('tags', { cursor: 'string', name: 'string', sha: 'string' }),
      ...PAGE,
    },
  ),
  operation('get tag', 'GET /tag', READ, 200, async (bed) => ({ query: { name: await bed.tag() } }), {
    'tag.name': 'string',
    'tag.sha': 'string',
  }),
  operation(
    'delete tag',
    'DELETE /tags/{tag}',
    ['git:read', 'git:write'],
    200,
    async (bed, family) => {
      const name = await bed.tag();
      return family === 'v1' ? { json: { name } } : { params: { tag: name } };
    },
    { name: 'string', message: 'string' },
    { v1: '/api/v1/repos/tags' },
  ),
];

const upstream: readonly Operation[] = [
  operation(
    'create credential',
    'POST /git-credentials',
    KEEP,
    201,
    async (bed) => ({
      repo: await bed.another(),
      json: { username: 'u', password: 'p' },
    }),
    CREDENTIAL,
  ),
  operation(
    'update credential',
    'PUT /git-credentials/{id}',
    KEEP,
    200,
    async (bed, family) => {
      const { repo, id } = await bed.credential();
      return family === 'v1'
        ? { repo, json: { id, password: 'q' } }
        : { repo, params: { id }, json: { password: 'q' } };
    },
    CREDENTIAL,
    { v1: '/api/v1/repos/git-credentials' },
  ),
  operation(
    'delete credential',
    'DELETE /git-credentials/{id}',
    KEEP,
    204,
    async (bed, family) => {
      const { repo, id } = await bed.credential();
      return family === 'v1' ? { repo, json: { id } } : { repo, params: { id } };
    },
    {},
    { v1: '/api/v1/repos/git-credentials' },
  ),
  operation(
    'pull upstream',
    'POST /pull-upstream',
    WRITE,
    202,
    async (bed) => ({
      repo: await bed.follower(),
      json: {},
    }),
    { message: 'string' },
  ),
  operation('detach base', 'DELETE /base', KEEP, 200, async (bed) => ({ repo: await bed.follower() }), {
    message: 'string',
  }),
];

const NO_ALIAS = { v1: undefined };

const deployments: readonly Operation[] = [
  operation(
    'create deployment',
    'POST /deployments',
    ['deployment:write'],
    201,
    async (bed) => {
      await bed.host();
      return { json: { ref: 'main' }, headers: { 'idempotency-key': bed.unused('key') } };
    },
    DEPLOYMENT,
    NO_ALIAS,
  ),
  operation(
    'list deployments',
    'GET /deployments',
    ['deployment:read'],
    200,
    async (bed) => {
      await bed.deployment();
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
    async (bed) => ({ params: { id: await bed.deployment() } }),
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
