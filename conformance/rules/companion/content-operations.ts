import { packLines } from '../../api/commit-pack.js';
import { AUTHOR } from '../../api/requests.js';
import {
  each,
  GIT_READ,
  GIT_WRITE,
  type Operation,
  type OperationRequest,
  operation,
  PAGE,
  STATS,
} from './operation.js';
import type { Shape } from './shape.js';
import type { TestRepository } from './test-repository.js';

const WRITTEN: Shape = {
  'commit.commit_sha': 'string',
  'commit.tree_sha': 'string',
  'commit.target_branch': 'string',
  'commit.pack_bytes': 'number',
  'result.branch': 'string',
  'result.old_sha': 'string',
  'result.new_sha': 'string',
  'result.success': 'boolean',
  'result.status': 'string',
};
const NOTE: Shape = {
  sha: 'string',
  target_ref: 'string',
  new_ref_sha: 'string',
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

const commits: readonly Operation[] = [
  operation('list commits', 'GET /commits', GIT_READ, 200, () => ({}), {
    ...each('commits', { sha: 'string', message: 'string', parent_shas: 'array' }),
    ...PAGE,
  }),
  operation('get commit', 'GET /commit', GIT_READ, 200, () => ({ query: { sha: 'main' } }), {
    'commit.sha': 'string',
    'commit.parent_shas': 'array',
  }),
  operation('commit diff', 'GET /diff', GIT_READ, 200, (repository) => ({ query: { sha: repository.tip } }), {
    sha: 'string',
    ...STATS,
  }),
  operation(
    'commit-pack',
    'POST /commit-pack',
    GIT_WRITE,
    201,
    async (repository) => ({
      lines: packLines({ 'packed.txt': 'x' }, { target_branch: await repository.createBranch() }),
    }),
    { ...WRITTEN, 'commit.blob_count': 'number' },
  ),
  operation(
    'diff-commit',
    'POST /diff-commit',
    GIT_WRITE,
    201,
    async (repository) => {
      const data = Buffer.from(PATCH_TEXT('patched.txt')).toString('base64');
      const metadata = { target_branch: await repository.createBranch(), commit_message: 'Patch', author: AUTHOR };
      return { lines: [{ metadata }, { diff_chunk: { data, eof: true } }] };
    },
    { ...WRITTEN, 'commit.blob_count': 'number' },
  ),
  operation('restore-commit', 'POST /restore-commit', GIT_WRITE, 201, restored, WRITTEN),
  operation('reset-commits', 'POST /reset-commits', GIT_WRITE, 201, restored, WRITTEN),
];

const files: readonly Operation[] = [
  operation('list files', 'GET /files', GIT_READ, 200, () => ({}), {
    paths: 'array',
    ref: 'string',
    ...each('entries', { path: 'string', type: 'string', mode: 'string' }),
    ...PAGE,
  }),
  operation('file metadata', 'GET /files/metadata', GIT_READ, 200, () => ({}), {
    ...each('files', { path: 'string', mode: 'string', size: 'number', last_commit_sha: 'string' }),
    commits: 'object',
    ref: 'string',
  }),
  operation('read file', 'GET /file', GIT_READ, 200, () => ({ query: { path: 'README.md' } })),
  operation('head file', 'HEAD /file', GIT_READ, 200, () => ({ query: { path: 'README.md' } })),
  operation('blame', 'GET /blame', GIT_READ, 200, () => ({ query: { path: 'README.md' } }), {
    ref: 'string',
    path: 'string',
    commit_sha: 'string',
    ...each('lines', {
      line_number: 'number',
      commit_sha: 'string',
      original_line_number: 'number',
      original_path: 'string',
      author_name: 'string',
      author_email: 'string',
      author_time: 'string',
      committer_name: 'string',
      committer_email: 'string',
      committer_time: 'string',
      summary: 'string',
    }),
  }),
  operation('grep', 'POST /grep', GIT_READ, 200, () => ({ json: { query: { pattern: 'e' } } }), {
    matches: 'array',
    has_more: 'boolean',
  }),
  operation('archive', 'POST /archive', GIT_READ, 200, () => ({})),
];

const notes: readonly Operation[] = [
  operation(
    'add note',
    'POST /notes',
    GIT_WRITE,
    [201, 200],
    async (repository) => ({
      json: { sha: await repository.createCommit(), action: 'add', note: 'added' },
    }),
    NOTE,
  ),
  operation(
    'read note',
    'GET /notes',
    GIT_READ,
    200,
    async (repository) => ({ query: { sha: await repository.createCommit('noted') } }),
    {
      sha: 'string',
      note: 'string',
      ref_sha: 'string',
    },
  ),
  operation(
    'delete note',
    'DELETE /notes',
    GIT_WRITE,
    200,
    async (repository) => ({
      json: { sha: await repository.createCommit('noted') },
    }),
    NOTE,
  ),
  operation(
    'list notes refs',
    'GET /notes/refs',
    GIT_READ,
    200,
    async (repository) => {
      await repository.createCommit('noted');
      return {};
    },
    {
      ...each('refs', { cursor: 'string', ref: 'string', sha: 'string' }),
      prefix: 'string',
      ...PAGE,
    },
  ),
];

/** The operations on commits, files and notes. */
export const contentOperations: readonly Operation[] = [...commits, ...files, ...notes];
