import { packLines } from '../../api/commit-pack.js';
import { AUTHOR } from '../../api/requests.js';
import { reserveName } from '../../fixtures/repositories.js';
import {
  each,
  gitRead,
  gitWrite,
  numbers,
  type Operation,
  type OperationRequest,
  operationsOf,
  PAGE,
  repoWrite,
  STATS,
  strings,
} from './operation.js';
import type { Shape } from './shape.js';
import type { TestRepository } from './test-repository.js';

const WRITTEN: Shape = {
  ...strings('commit.commit_sha', 'commit.tree_sha', 'commit.target_branch'),
  'commit.pack_bytes': 'number',
  ...strings('result.branch', 'result.old_sha', 'result.new_sha'),
  'result.success': 'boolean',
  'result.status': 'string',
};
const PACKED: Shape = { ...WRITTEN, 'commit.blob_count': 'number' };
const NOTE: Shape = {
  ...strings('sha', 'target_ref', 'new_ref_sha'),
  'result.success': 'boolean',
  'result.status': 'string',
};

const PATCH_TEXT = (path: string): string =>
  `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+patched\n`;

const restored = async (repository: TestRepository): Promise<OperationRequest> => ({
  lines: [
    { metadata: { target_branch: await repository.createBranch(), target_commit_sha: repository.tip, author: AUTHOR } },
  ],
});

const COMMIT_ENTRY: Shape = { ...strings('sha', 'message'), parent_shas: 'array' };
const COMMIT: Shape = { 'commit.sha': 'string', 'commit.parent_shas': 'array' };

const commits: readonly Operation[] = [
  gitRead('list commits', 'GET /commits', { ...each('commits', COMMIT_ENTRY), ...PAGE }),
  gitRead('get commit', 'GET /commit', COMMIT, ({ branch }) => ({ query: { sha: branch } })),
  gitRead('commit diff', 'GET /diff', { sha: 'string', ...STATS }, (repository) => ({
    query: { sha: repository.tip },
  })),
  gitWrite('commit-pack', ['POST /commit-pack', 201], PACKED, (repository) => ({
    lines: packLines(repository.t, { 'packed.txt': repository.unusedName('packed') }),
  })),
  gitWrite('diff-commit', ['POST /diff-commit', 201], PACKED, async (repository) => {
    const data = Buffer.from(PATCH_TEXT('patched.txt')).toString('base64');
    const metadata = { target_branch: await repository.createBranch(), commit_message: 'Patch', author: AUTHOR };
    return { lines: [{ metadata }, { diff_chunk: { data, eof: true } }] };
  }),
  gitWrite('restore-commit', ['POST /restore-commit', 201], WRITTEN, restored),
  gitWrite('reset-commits', ['POST /reset-commits', 201], WRITTEN, restored),
];

const file: Operation['request'] = ({ path }) => ({ query: { path } });
const BLAMED_LINE: Shape = {
  ...numbers('line_number', 'original_line_number'),
  ...strings('commit_sha', 'original_path', 'author_name', 'author_email', 'author_time'),
  ...strings('committer_name', 'committer_email', 'committer_time', 'summary'),
};

const files: readonly Operation[] = [
  gitRead('list files', 'GET /files', {
    paths: 'array',
    ref: 'string',
    ...each('entries', strings('path', 'type', 'mode')),
    ...PAGE,
  }),
  gitRead('file metadata', 'GET /files/metadata', {
    ...each('files', { ...strings('path', 'mode', 'last_commit_sha'), size: 'number' }),
    commits: 'object',
    ref: 'string',
  }),
  gitRead('read file', 'GET /file', {}, file),
  gitRead('head file', 'HEAD /file', {}, file),
  gitRead('blame', 'GET /blame', { ...strings('ref', 'path', 'commit_sha'), ...each('lines', BLAMED_LINE) }, file),
  gitRead('grep', 'POST /grep', { matches: 'array', has_more: 'boolean' }, () => ({
    json: { query: { pattern: 'e' } },
  })),
  gitRead('archive', 'POST /archive', {}, () => ({ json: {} })),
];

const notes: readonly Operation[] = [
  gitWrite('add note', ['POST /notes', [201, 200]], NOTE, ({ tip }) => ({
    json: { sha: tip, action: 'append', note: 'added' },
  })),
  gitRead('read note', 'GET /notes', strings('sha', 'note', 'ref_sha'), async (repository) => ({
    query: { sha: await repository.createCommit('noted') },
  })),
  gitWrite('delete note', 'DELETE /notes', NOTE, async (repository) => ({
    json: { sha: await repository.createCommit('noted') },
  })),
  gitRead(
    'list notes refs',
    'GET /notes/refs',
    { ...each('refs', strings('cursor', 'ref', 'sha')), prefix: 'string', ...PAGE },
    async (repository) => {
      await repository.createCommit('noted');
      return {};
    },
  ),
];

const RECORD = strings('repo_id', 'url', 'default_branch', 'created_at');
const GIT_CREDENTIAL = strings('id');
const DEPLOYMENT = strings('id', 'target', 'ref', 'commit_sha', 'status', 'created_at', 'updated_at');
const MESSAGE = strings('message');

export const MERGER = { commit_message: 'Merge', author: AUTHOR };

/**
 * Routes that replace the derived ones. `OF_ORGANIZATION` is the list of repositories, so its path has no repository
 * name. `RECORD_ROUTE` is a single repository; `v1` calls it `repo`, not `repos`.
 */
const OF_ORGANIZATION = { preferred: '/api/repos' };
const RECORD_ROUTE = { v1: '/api/v1/repo' };

const orgRead = operationsOf('org:read');

const repositories: readonly Operation[] = [
  orgRead('list repositories', ['GET ', 200, OF_ORGANIZATION], { ...each('repos', RECORD), ...PAGE }, () => ({
    repo: 'org',
    query: { limit: '2' },
  })),
  repoWrite(
    'create repository',
    ['POST ', 201, OF_ORGANIZATION],
    strings('repo_id', 'url', 'http_url', 'message'),
    async (repository) => ({ repo: await reserveName(repository.t) }),
  ),
  gitRead('get repository', ['GET ', 200, RECORD_ROUTE], RECORD),
  repoWrite('update repository', ['PATCH ', 200, RECORD_ROUTE], strings('repo_id', 'default_branch'), ({ branch }) => ({
    json: { default_branch: branch },
  })),
  repoWrite(
    'delete repository',
    ['DELETE ', 200, { v1: '/api/v1/repos/delete' }],
    strings('repo_id', 'message'),
    async (repository) => ({ repo: await repository.createRepository() }),
  ),
  orgRead('organization metadata', ['GET ', 200, { preferred: '/api/meta', v1: undefined }], {}),
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
  gitRead('list branches', 'GET /branches', { ...each('branches', BRANCH), ...PAGE }),
  gitRead(
    'get branch',
    'GET /branch',
    strings('branch.name', 'branch.head_sha', 'branch.created_at'),
    ({ branch }) => ({
      query: { name: branch },
    }),
  ),
  gitWrite('create branch', 'POST /branches/create', CREATED, (repository) => ({
    json: { target_branch: repository.unusedName('made'), base_branch: repository.branch },
  })),
  gitWrite('delete branch', 'DELETE /branches', strings('name', 'message'), async (repository) => ({
    json: { name: await repository.createBranch() },
  })),
  gitRead('branch diff', 'GET /branches/diff', { ...strings('branch', 'base'), ...STATS }, async (repository) => ({
    query: { branch: await repository.createBranch(), base: repository.branch },
  })),
  gitWrite('merge', 'POST /merge', MERGE, async (repository) => ({
    json: {
      source_branch: await repository.createBranch(),
      target_branch: await repository.createBranch(),
      strategy: 'merge',
      ...MERGER,
    },
  })),
  gitRead('merge preview', 'GET /merge/preview', PREVIEW, async (repository) => ({
    query: { source_branch: await repository.createBranch(), target_branch: repository.branch },
  })),
];

const tags: readonly Operation[] = [
  gitWrite('create tag', 'POST /tags', strings('name', 'sha', 'message'), (repository) => ({
    json: { name: repository.unusedName('v'), target: repository.tip },
  })),
  gitRead(
    'list tags',
    'GET /tags',
    { ...each('tags', strings('cursor', 'name', 'sha')), ...PAGE },
    async (repository) => {
      await repository.createTag();
      return {};
    },
  ),
  gitRead('get tag', 'GET /tag', strings('tag.name', 'tag.sha'), async (repository) => ({
    query: { name: await repository.createTag() },
  })),
  operationsOf('git:read', 'git:write')(
    'delete tag',
    ['DELETE /tags/{tag}', 200, { v1: '/api/v1/repos/tags' }],
    strings('name', 'message'),
    async (repository, family) => {
      const name = await repository.createTag();
      return family === 'v1' ? { json: { name } } : { params: { tag: name } };
    },
  ),
];

/** Older routes of Git credentials. They take the credential id in the body, not in the path. */
const BY_ID = { v1: '/api/v1/repos/git-credentials' };

const upstream: readonly Operation[] = [
  repoWrite('create Git credential', ['POST /git-credentials', 201], GIT_CREDENTIAL, async (repository) => ({
    repo: await repository.createRepository(),
    json: { username: 'u', password: 'p' },
  })),
  repoWrite(
    'update Git credential',
    ['PUT /git-credentials/{id}', 200, BY_ID],
    GIT_CREDENTIAL,
    async (repository, family) => {
      const { repo, id } = await repository.createGitCredential();
      const json = { password: 'q' };
      return family === 'v1' ? { repo, json: { id, ...json } } : { repo, params: { id }, json };
    },
  ),
  repoWrite('delete Git credential', ['DELETE /git-credentials/{id}', 204, BY_ID], {}, async (repository, family) => {
    const { repo, id } = await repository.createGitCredential();
    return family === 'v1' ? { repo, json: { id } } : { repo, params: { id } };
  }),
  gitWrite('pull upstream', ['POST /pull-upstream', 202], MESSAGE, async (repository) => ({
    repo: await repository.createWithUpstream(),
    json: {},
  })),
  repoWrite('detach base', 'DELETE /base', MESSAGE, async (repository) => ({
    repo: await repository.createWithUpstream(),
  })),
];

const NO_ALIAS = { v1: undefined };

const deploymentRead = operationsOf('deployment:read');
const deploymentWrite = operationsOf('deployment:write');

const deployments: readonly Operation[] = [
  deploymentWrite('create deployment', ['POST /deployments', 201, NO_ALIAS], DEPLOYMENT, async (repository) => {
    await repository.ensureHosting();
    return { json: { ref: repository.branch }, headers: { 'idempotency-key': repository.unusedName('key') } };
  }),
  deploymentRead(
    'list deployments',
    ['GET /deployments', 200, NO_ALIAS],
    { ...each('deployments', DEPLOYMENT), ...PAGE },
    async (repository) => {
      await repository.createDeployment();
      return {};
    },
  ),
  deploymentRead('get deployment', ['GET /deployments/{id}', 200, NO_ALIAS], DEPLOYMENT, async (repository) => ({
    params: { id: await repository.createDeployment() },
  })),
];

/** Every operation of the service that published clients call. Rules try these operations on the target. */
export const OPERATIONS: readonly Operation[] = [
  ...repositories,
  ...branches,
  ...commits,
  ...files,
  ...notes,
  ...tags,
  ...upstream,
  ...deployments,
];
